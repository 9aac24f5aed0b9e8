/**
 * Reserves seats in both eras. Then repeats this with a user who declines, and with a client without `onElicit`. `npm
 * start`
 */
import { strict as assert } from 'node:assert'
import { connect, type ElicitAnswer, type Elicitation } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { payments, server, type Theatre } from './server.ts'

const { url, close } = await serveHttp(server, { port: 0 })

/** The answers of the simulated user. A real client shows a form that is made from `schema`. */
const answers: Record<string, ElicitAnswer> = {
  'How many seats?': { action: 'accept', content: { count: 2 } },
  'For whom?': { action: 'accept', content: { name: 'Nora' } },
  'Write a greeting?': { action: 'decline' },
}
const messages: string[] = []
function onElicit({ message }: Elicitation): ElicitAnswer {
  messages.push(message)
  return answers[message] ?? { action: 'cancel' }
}

for (const era of ['modern', 'legacy'] as const) {
  const before = payments.length
  await using client = await connect<Theatre>(http(url), { era, onElicit })
  const { content } = await client.callTool('reserve', { play: 'Peer Gynt' })
  assert.deepEqual(content, [{ type: 'text', text: `2 seats in Peer Gynt for Nora. Receipt ${before + 1}.` }])
  assert.equal(payments.length, before + 1)
  console.log(`${client.revision}: asked ${messages.splice(0).length} times, paid once`)
}

// Declining is a normal answer: the tool handles it and returns a result.
await using decliningClient = await connect<Theatre>(http(url), { onElicit: () => ({ action: 'decline' }) })
const { content } = await decliningClient.callTool('reserve', { play: 'Peer Gynt' })
assert.deepEqual(content, [{ type: 'text', text: 'Nothing was reserved.' }])
assert.equal(payments.length, 2)
console.log('declined: no payment was made')

// A client without the elicitation capability gets an error that names the capability, and the tool does nothing.
await using clientWithoutElicitation = await connect<Theatre>(http(url))
await assert.rejects(clientWithoutElicitation.callTool('reserve', { play: 'Peer Gynt' }), {
  name: 'RpcError',
  code: -32021,
})
assert.equal(payments.length, 2)
console.log('client without elicitation: rejected')

await close()
console.log('ok')
