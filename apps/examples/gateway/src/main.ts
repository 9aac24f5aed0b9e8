/** Serves the gateway over HTTP and calls the servers behind it. `npm start` */
import { strict as assert } from 'node:assert'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { spawn } from '@mcpx/transport-stdio'
import { createGateway } from './gateway.ts'

// The gateway passes input requests of the notes server to its own clients. The notes server may only send requests
// that its client declares.
const program = spawn(process.execPath, [`${import.meta.dirname}/notes.ts`])
await using notes = await connect(program, { capabilities: { elicitation: { form: {} } } })

const log: string[] = []
const gateway = createGateway(notes, ({ method, target, outcome }) => {
  if (method === 'tools/call') log.push(`${target}: ${outcome}`)
})
const { url, close } = await serveHttp(gateway, { port: 0 })

for (const era of ['modern', 'legacy'] as const) {
  const questions: string[] = []
  const client = await connect(http(url), {
    era,
    onElicit({ message }) {
      questions.push(message)
      // This user declines every deletion.
      return message.includes('mood') ? { action: 'accept', content: { mood: 'cheerful' } } : { action: 'decline' }
    },
  })
  const names = (await client.listTools().all()).map(({ name }) => name)
  assert.deepEqual(names.sort(), ['files.delete', 'files.read', 'notes.add'])

  const read = await client.callTool('files.read', { path: 'a.txt' })
  assert.deepEqual(read.content, [{ type: 'text', text: 'the text of a.txt' }])

  // The input request and the progress pass from the notes server through the gateway to the client that called.
  const messages: (string | undefined)[] = []
  const added = await client.callTool(
    'notes.add',
    { text: 'Hi' },
    { onProgress: ({ message }) => messages.push(message) },
  )
  assert.match(JSON.stringify(added.content), /Note \d, cheerful/)
  assert.ok(messages.includes('asking') && messages.includes('writing'))

  const deleted = await client.callTool('files.delete', { path: 'a.txt' })
  assert.equal(deleted.isError, true)
  assert.equal(questions.length, 2)
  await client.close()
  console.log(`${client.revision}: read a file, answered the notes server, was not allowed to delete`)
}

// In the modern era an input request ends the call, so the call with the answer has a separate audit entry.
assert.deepEqual([...new Set(log)].sort(), [
  'files.delete: declined',
  'files.delete: input-required',
  'files.read: ok',
  'notes.add: input-required',
  'notes.add: ok',
])
console.log(`audit log: ${log.join(', ')}`)

await close()
console.log('ok')
