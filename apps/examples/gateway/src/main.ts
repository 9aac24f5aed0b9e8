/** Serves the gateway over HTTP and uses what is behind it. `npm start` */
import { strict as assert } from 'node:assert'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { spawn } from '@mcpx/transport-stdio'
import { createGateway } from './gateway.ts'

// What the program behind may ask is what its client declares: here whatever the gateway's own clients can be asked.
const program = spawn(process.execPath, [`${import.meta.dirname}/notes.ts`])
await using notes = await connect(program, { capabilities: { elicitation: { form: {} } } })

const log: string[] = []
const gateway = createGateway(notes, ({ method, target, outcome }) => {
  if (method === 'tools/call') log.push(`${target}: ${outcome}`)
})
const { url, close } = await serveHttp(gateway, { port: 0 })

for (const era of ['modern', 'legacy'] as const) {
  const asked: string[] = []
  const client = await connect(http(url), {
    era,
    onElicit({ message }) {
      asked.push(message)
      // This user allows nothing to be deleted.
      return message.includes('mood') ? { action: 'accept', content: { mood: 'cheerful' } } : { action: 'decline' }
    },
  })
  const names = (await client.listTools().all()).map(({ name }) => name)
  assert.deepEqual(names.sort(), ['files.delete', 'files.read', 'notes.add'])

  const read = await client.callTool('files.read', { path: 'a.txt' })
  assert.deepEqual(read.content, [{ type: 'text', text: 'the text of a.txt' }])

  // The question and the progress come from the program behind, through the gateway, to the client that called.
  const heard: (string | undefined)[] = []
  const added = await client.callTool('notes.add', { text: 'Hi' }, { onProgress: ({ message }) => heard.push(message) })
  assert.match(JSON.stringify(added.content), /Note \d, cheerful/)
  assert.ok(heard.includes('asking') && heard.includes('writing'))

  const deleted = await client.callTool('files.delete', { path: 'a.txt' })
  assert.equal(deleted.isError, true)
  assert.equal(asked.length, 2)
  await client.close()
  console.log(`${client.revision}: read, asked for a mood by the program behind, and was not allowed to delete`)
}

// A question ends a modern call and is written down as such; the call that brings the answer is another entry.
assert.deepEqual([...new Set(log)].sort(), [
  'files.delete: declined',
  'files.delete: input-required',
  'files.read: ok',
  'notes.add: input-required',
  'notes.add: ok',
])
console.log(`written down: ${log.join(', ')}`)

await close()
console.log('ok')
