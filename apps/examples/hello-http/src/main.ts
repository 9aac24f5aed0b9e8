/** Serves notes on a port, and uses them as two callers would: one who may write, and one who may only read. `npm start` */
import { strict as assert } from 'node:assert'
import { type Client, connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { type Notes, server } from './server.ts'

/** Who is behind a token. A real server asks whoever issued it. */
const callers: Record<string, { subject: string; scopes: string[] }> = {
  'token-of-ann': { subject: 'ann', scopes: ['write'] },
  'token-of-bob': { subject: 'bob', scopes: [] },
}

const { url, drain } = await serveHttp(server, {
  port: 0, // any that is free
  authenticate(request) {
    const token = request.headers.get('authorization')?.replace(/^Bearer /, '') ?? ''
    return callers[token] ?? new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } })
  },
})
console.log(`serving on ${url}`)

// One endpoint answers clients of every revision. A client finds out by itself what a server speaks; here it is told.
for (const era of ['modern', 'legacy'] as const) {
  const ann = await connect<Notes>(http(url, { headers: { authorization: 'Bearer token-of-ann' } }), {
    era,
    onElicit: () => ({ action: 'accept', content: { sure: true } }),
  })
  await search(ann)
  await writeAndWatch(ann)
  await ann.close()

  const bob = await connect(http(url, { headers: { authorization: 'Bearer token-of-bob' } }), { era })
  const names = (await bob.listTools().all()).map(({ name }) => name)
  assert.deepEqual(names, ['search'])
  await assert.rejects(bob.callTool('write', { id: '2', text: 'x' }), { name: 'RpcError', code: -32602 })
  await bob.close()
  console.log(`${ann.revision}: ann searched, was asked, wrote, and heard of it; for bob there is only ${names}`)
}

await assert.rejects(connect(http(url)), /401/)
console.log('nobody: refused')

// Running calls may end, new ones are refused, then the port is closed.
await drain(1_000)
await assert.rejects(connect(http(url)), { name: 'ConnectionError' })
console.log('ok')

async function search(client: Client<Notes>): Promise<void> {
  // Typed by the server: an unknown tool or a wrong argument does not compile.
  assert.deepEqual(await client.tools.search({ word: 'milk' }), { ids: ['1'] })

  const heard: number[] = []
  await client.callTool('search', { word: 'milk' }, { onProgress: ({ progress }) => heard.push(progress) })
  assert.deepEqual(heard, [1])
}

async function writeAndWatch(client: Client<Notes>): Promise<void> {
  const changes = client.listen({ resourceSubscriptions: ['note://1'] })
  await changes.ready
  const { content } = await client.callTool('write', { id: '1', text: 'Buy more milk' })
  assert.deepEqual(content, [{ type: 'text', text: 'Note 1 was written.' }])
  for await (const change of changes) {
    assert.deepEqual(change, { kind: 'resource', uri: 'note://1' })
    break
  }
  const [note] = (await client.readResource('note://1')).contents
  assert.ok(note !== undefined && 'text' in note && note.text === 'Buy more milk')
}
