/** Watches a match and a list of tools in both eras, in the two ways there are. `npm start` */
import { strict as assert } from 'node:assert'
import { EventEmitter, once } from 'node:events'
import { type Client, connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { closeBets, openBets, server } from './server.ts'

const { url, close } = await serveHttp(server, { port: 0 })
const uri = 'match://final'

for (const era of ['modern', 'legacy'] as const) {
  // One way: iterate over changes. Modern servers hold a stream open for it, legacy ones use the stream of the session.
  await using fan = await connect(http(url), { era })
  const changes = fan.listen({ resourceSubscriptions: [uri], toolsListChanged: true })
  // Resolves when the server has confirmed, to what it follows: from then on nothing is missed.
  assert.deepEqual(await changes.ready, { resourceSubscriptions: [uri], toolsListChanged: true })

  await using referee = await connect(http(url), { era })
  await referee.callTool('goal', { id: 'final', by: 'home' })
  assert.deepEqual((await changes.next()).value, { kind: 'resource', uri })
  // Kept answers are thrown away when they change, so this is the new one.
  console.log(`${fan.revision}: ${await scoreOf(fan)}`)

  openBets()
  assert.deepEqual((await changes.next()).value, { kind: 'tools' })
  assert.ok((await fan.listTools().all()).some(({ name }) => name === 'bet'))
  closeBets()
  assert.deepEqual((await changes.next()).value, { kind: 'tools' })
  changes.close()

  // The other way: a callback for everything that is subscribed to, for as long as the client lives.
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
