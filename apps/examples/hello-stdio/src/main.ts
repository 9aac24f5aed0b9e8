/** Starts the server as a host would, in both eras: calls it, answers it, changes its mind, and goes on after a crash. `npm start` */
import { strict as assert } from 'node:assert'
import { type Client, connect } from '@mcpx/client'
import { type ServerExitError, spawn } from '@mcpx/transport-stdio'
import type { Desk } from './server.ts'

const here = import.meta.dirname

for (const era of ['modern', 'legacy'] as const) {
  const logged: string[] = []
  const program = spawn('node', [`${here}/server.ts`], { stderr: (text) => void logged.push(text) })
  // A client finds out by itself which era a server speaks; here it is told.
  const client = await connect<Desk>(program, {
    era,
    onElicit: () => ({ action: 'accept', content: { table: 7 } }),
  })
  await call(client)
  await changeYourMind(client)
  await crash(client)
  await client.close() // ends the program too
  // What the server prints goes to standard error, even by console.log: standard output is the protocol's.
  assert.match(logged.join(''), /adding 1 and 2/)
  console.log(`${client.revision}: called, asked, cancelled, crashed, started again, closed`)
}

// A server that ends at a question of the newer era is started once more, and spoken to in the older one.
const old = await connect(spawn('node', [`${here}/old-server.ts`], { stderr: 'ignore' }))
assert.deepEqual([old.server.info?.name, old.era], ['old', 'legacy'])
await old.ping()
await old.close()
console.log(`${old.revision}: spoken to a server of the old kind`)
console.log('ok')

async function call(client: Client<Desk>): Promise<void> {
  // Typed by the server, and as many at once as you like.
  const sums = await Promise.all([1, 2, 3].map((a) => client.tools.add({ a, b: 2 })))
  assert.deepEqual(sums, [{ sum: 3 }, { sum: 4 }, { sum: 5 }])

  // This tool asks its user in the middle: `onElicit` answers.
  const { content } = await client.callTool('order', { dish: 'Soup' })
  assert.deepEqual(content, [{ type: 'text', text: 'Soup for table 7' }])
}

async function changeYourMind(client: Client<Desk>): Promise<void> {
  const call = client.callTool('wait', {}, { signal: AbortSignal.timeout(50) })
  await assert.rejects(call, { name: 'ConnectionError', reason: 'cancelled' })
}

/** A call that is lost with its process says why; the next call starts another one. */
async function crash(client: Client<Desk>): Promise<void> {
  const error: Error = await client.callTool('crash').catch((reason) => reason)
  const { exitCode, stderr } = error.cause as ServerExitError
  assert.deepEqual([exitCode, stderr.at(-1)], [3, 'out of paper'])
  assert.deepEqual(await client.tools.add({ a: 1, b: 2 }), { sum: 3 })
}
