/** Reserves seats in both eras; then for a user who says no, and for a client that cannot ask. `npm start` */
import { strict as assert } from 'node:assert'
import { connect, type ElicitAnswer, type ElicitAsk } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { payments, server, type Theatre } from './server.ts'

const { url, close } = await serveHttp(server, { port: 0 })

/** Here a program would show a form, made from `ask.schema`. This user has made up their mind. */
const answers: Record<string, ElicitAnswer> = {
  'How many seats?': { action: 'accept', content: { count: 2 } },
  'For whom?': { action: 'accept', content: { name: 'Nora' } },
  'Write a greeting?': { action: 'decline' },
}
const asked: string[] = []
function onElicit(ask: ElicitAsk): ElicitAnswer {
  asked.push(ask.message)
  return answers[ask.message] ?? { action: 'cancel' }
}

for (const era of ['modern', 'legacy'] as const) {
  const before = payments.length
  await using client = await connect<Theatre>(http(url), { era, onElicit })
  const { content } = await client.callTool('reserve', { play: 'Peer Gynt' })
  assert.deepEqual(content, [{ type: 'text', text: `2 seats in Peer Gynt for Nora. Receipt ${before + 1}.` }])
  assert.equal(payments.length, before + 1)
  console.log(`${client.revision}: asked ${asked.splice(0).length} times, paid once`)
}

// A user who says no is an answer like any other: the tool says what became of it.
await using shy = await connect<Theatre>(http(url), { onElicit: () => ({ action: 'decline' }) })
const { content } = await shy.callTool('reserve', { play: 'Peer Gynt' })
assert.deepEqual(content, [{ type: 'text', text: 'Nothing was reserved.' }])
assert.equal(payments.length, 2)
console.log('declined: nothing was paid')

// A client that cannot be asked is told what it lacks, and nothing happens.
await using mute = await connect<Theatre>(http(url))
await assert.rejects(mute.callTool('reserve', { play: 'Peer Gynt' }), { name: 'RpcError', code: -32021 })
assert.equal(payments.length, 2)
console.log('a client without a user: refused')

await close()
console.log('ok')
