/** Receives changes of a resource and of the tool list in both eras, with `listen` and with `onChange`. `npm start` */
import { strict as assert } from 'node:assert'
import { EventEmitter, once } from 'node:events'
import { type Client, connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { closeBets, openBets, server } from './server.ts'

const { url, close } = await serveHttp(server, { port: 0 })
const uri = 'match://final'

for (const era of ['modern', 'legacy'] as const) {
  // With `listen` a program iterates over changes. A modern server sends them on a separate stream, a legacy server on
  // the stream of the session.
  await using fan = await connect(http(url), { era })
  const changes = fan.listen({ resourceSubscriptions: [uri], toolsListChanged: true })
  // `ready` resolves to the filter that the server has confirmed. After that, no change is missed.
  assert.deepEqual(await changes.ready, { resourceSubscriptions: [uri], toolsListChanged: true })

  await using referee = await connect(http(url), { era })
  await referee.callTool('goal', { id: 'final', by: 'home' })
  assert.deepEqual((await changes.next()).value, { kind: 'resource', uri })
  // A change invalidates the cached result, so this reads the new contents.
  console.log(`${fan.revision}: ${await scoreOf(fan)}`)

  openBets()
  assert.deepEqual((await changes.next()).value, { kind: 'tools' })
  assert.ok((await fan.listTools().all()).some(({ name }) => name === 'bet'))
  closeBets()
  assert.deepEqual((await changes.next()).value, { kind: 'tools' })
  changes.close()

  // With `onChange` one callback receives all changes until the client is closed.
  const board = new EventEmitter()
  await using screen = await connect(http(url), { era, onChange: (change) => board.emit('change', change) })
  await screen.subscribe(uri)
  const changed = once(board, 'change')
  await referee.callTool('goal', { id: 'final', by: 'away' })
  assert.deepEqual(await changed, [{ kind: 'resource', uri }])
  await screen.unsubscribe(uri)
  console.log(`${fan.revision}: ${await scoreOf(screen)}, and bets were opened and closed`)
}

await close()
console.log('ok')

async function scoreOf(client: Client): Promise<string> {
  const [match] = (await client.readResource(uri)).contents
  return match !== undefined && 'text' in match ? `${match.text}` : ''
}
