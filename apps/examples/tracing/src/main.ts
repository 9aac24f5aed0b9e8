/** Traces an agent that calls a server on stdio through a gateway over HTTP. `npm start` */
import { strict as assert } from 'node:assert'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect, proxy } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { telemetry } from '@mcpx/telemetry'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { spawn } from '@mcpx/transport-stdio'
import { trace } from '@opentelemetry/api'
import { startCollector, toJaeger, treeOf } from './collector.ts'
import { startTracing } from './tracing.ts'

const collector = await startCollector()
const provider = startTracing('agent', collector.url)

// The gateway is part of this process. The books server is a separate process.
const books = await connect(spawn(process.execPath, [`${import.meta.dirname}/books.ts`, collector.url]), {
  capabilities: { elicitation: { form: {} } },
  telemetry: telemetry(),
})
const gateway = createServer({ name: 'gateway', version: '1.0.0' }, { telemetry: telemetry() }).mount(
  'books',
  proxy(books),
)
const { url, close } = await serveHttp(gateway, { port: 0 })

const client = await connect(http(url), {
  onElicit: () => ({ action: 'accept', content: { copies: 2 } }),
  telemetry: telemetry(),
})

/** Runs a task of the agent within a span, and returns the id of its trace. */
async function traceTask(name: string, run: () => Promise<unknown>): Promise<string> {
  return trace.getTracer('agent').startActiveSpan(name, async (span) => {
    await run()
    span.end()
    return span.spanContext().traceId
  })
}

const searched = await traceTask('find a book', async () => {
  const { content } = await client.callTool('books.search', { word: 'Owl' })
  assert.deepEqual(content, [{ type: 'text', text: 'The Owl Service' }])
})
const bought = await traceTask('buy a book', () => client.callTool('books.buy', { title: 'The Owl Service' }))

await client.close()
await close()
await books.close()
await provider.shutdown()
collector.close()

const spansOf = (id: string) => collector.spans.filter(({ traceId }) => traceId === id)
for (const id of [searched, bought]) console.log(`${treeOf(spansOf(id)).join('\n')}\n`)

assert.deepEqual(treeOf(spansOf(searched)), [
  'agent: find a book (internal)',
  '  agent: tools/call books.search (client)',
  '    agent: tools/call books.search (server)',
  '      agent: delegate tools/call search (internal)',
  '        agent: tools/call search (client)',
  '          books: tools/call search (server)',
  '            books: SELECT books (client)',
])
assert.deepEqual(treeOf(spansOf(bought)), [
  'agent: buy a book (internal)',
  '  agent: tools/call books.buy (client)',
  '    agent: tools/call books.buy (server)',
  '      agent: delegate tools/call buy (internal)',
  '        agent: tools/call buy (client)',
  '          books: tools/call buy (server)',
  // The user answers, and the call is sent again with the answer.
  '    agent: elicitation/create (internal)',
  '    agent: tools/call books.buy (client)',
  '      agent: tools/call books.buy (server)',
  '        agent: delegate tools/call buy (internal)',
  '          agent: tools/call buy (client)',
  '            books: tools/call buy (server)',
])

const folder = `${import.meta.dirname}/../.cache`
mkdirSync(folder, { recursive: true })
const file = toJaeger([...spansOf(searched), ...spansOf(bought)])
for (const { traceID, spans } of file.data) {
  const ids = new Set(spans.map(({ spanID }) => spanID))
  const roots = spans.filter(({ references }) => !references.some(({ spanID }) => ids.has(spanID)))
  // Each other span has a parent in the same trace, from the agent to the database.
  assert.deepEqual([roots.length, new Set(spans.map((span) => span.traceID))], [1, new Set([traceID])])
}
writeFileSync(`${folder}/traces.json`, JSON.stringify(file, null, 2))
console.log('Open .cache/traces.json with "JSON file" in the search of Jaeger.')
console.log('ok')
