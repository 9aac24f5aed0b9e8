/** A server on stdio that reads a database. `node books.ts <URL of the collector>` */
import { createServer } from '@mcpx/server'
import { telemetry } from '@mcpx/telemetry'
import { serveStdio } from '@mcpx/transport-stdio'
import { SpanKind, trace } from '@opentelemetry/api'
import { z } from 'zod'
import { startTracing } from './tracing.ts'

const provider = startTracing('books', process.argv[2] as string)
const tracer = trace.getTracer('database')

/** Simulates an instrumented database driver. */
async function queryTitles(word: string): Promise<string[]> {
  const attributes = { 'db.system.name': 'sqlite', 'db.query.text': 'SELECT title FROM books WHERE title LIKE ?' }
  return tracer.startActiveSpan('SELECT books', { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const titles = ['The Owl Service', 'The Wind in the Willows']
    span.end()
    return titles.filter((title) => title.includes(word))
  })
}

const server = createServer({ name: 'books', version: '1.0.0' }, { telemetry: telemetry() })
  .tool('search', { input: z.object({ word: z.string() }) }, async ({ word }) => (await queryTitles(word)).join(', '))
  .tool('buy', { input: z.object({ title: z.string() }) }, async ({ title }, ctx) => {
    const schema = z.object({ copies: z.number().int() })
    const answer = await ctx.elicit('copies', { message: `How many copies of ${title}?`, schema })
    return answer.action === 'accept' ? `Bought ${answer.content.copies}.` : 'Not bought.'
  })

await serveStdio(server)
await provider.shutdown()
