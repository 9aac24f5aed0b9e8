/** Starts the server as a host does, in both eras: calls tools, answers an input request, cancels, and recovers from a crash. `npm start` */
import { strict as assert } from 'node:assert'
import { type Client, connect } from '@mcpx/client'
import { type ServerExitError, spawn } from '@mcpx/transport-stdio'
import type { Desk } from './server.ts'

const folder = import.meta.dirname

for (const era of ['modern', 'legacy'] as const) {
  const logs: string[] = []
  const program = spawn('node', [`${folder}/server.ts`], { stderr: (text) => void logs.push(text) })
  // A client detects the era of a server; here it is set to test both.
  const client = await connect<Desk>(program, {
    era,
    onElicit: () => ({ action: 'accept', content: { table: 7 } }),
  })
  await call(client)
  await cancel(client)
  await crash(client)
  await client.close() // also ends the server process
  // Output of console.log goes to stderr, because stdout carries the protocol.
  assert.match(logs.join(''), /adding 1 and 2/)
  console.log(`${client.revision}: called, answered, cancelled, crashed, restarted, closed`)
}

// A server that exits on a modern request is restarted, and the client uses the legacy era.
const old = await connect(spawn('node', [`${folder}/old-server.ts`], { stderr: 'ignore' }))
assert.deepEqual([old.server.info?.name, old.era], ['old', 'legacy'])
await old.ping()
await old.close()
console.log(`${old.revision}: connected to a server that knows only the legacy era`)
console.log('ok')

async function call(client: Client<Desk>): Promise<void> {
  // Calls may run concurrently.
  const sums = await Promise.all([1, 2, 3].map((a) => client.tools.add({ a, b: 2 })))
  assert.deepEqual(sums, [{ sum: 3 }, { sum: 4 }, { sum: 5 }])

  // This tool sends an input request, which `onElicit` answers.
  const { content } = await client.callTool('order', { dish: 'Soup' })
  assert.deepEqual(content, [{ type: 'text', text: 'Soup for table 7' }])
}

async function cancel(client: Client<Desk>): Promise<void> {
  const call = client.callTool('wait', {}, { signal: AbortSignal.timeout(50) })
  await assert.rejects(call, { name: 'ConnectionError', reason: 'cancelled' })
}

/** The error of a lost call contains the exit code and stderr of the process; the next call restarts it. */
async function crash(client: Client<Desk>): Promise<void> {
  const error: Error = await client.callTool('crash').catch((reason) => reason)
  const { exitCode, stderr } = error.cause as ServerExitError
  assert.deepEqual([exitCode, stderr.at(-1)], [3, 'out of paper'])
  assert.deepEqual(await client.tools.add({ a: 1, b: 2 }), { sum: 3 })
}
