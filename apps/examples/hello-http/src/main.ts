/** Serves notes over HTTP and calls them as two users: one may write, the other may only read. `npm start` */
import { strict as assert } from 'node:assert'
import { type Client, connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { type Notes, server } from './server.ts'

/** The user of each token. A real server verifies tokens with their issuer. */
const users: Record<string, { subject: string; scopes: string[] }> = {
  'token-of-ann': { subject: 'ann', scopes: ['write'] },
  'token-of-bob': { subject: 'bob', scopes: [] },
}

const { url, drain } = await serveHttp(server, {
  port: 0, // any free port
  authenticate(request) {
    const token = request.headers.get('authorization')?.replace(/^Bearer /, '') ?? ''
    return users[token] ?? new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } })
  },
})
console.log(`serving on ${url}`)

// One endpoint serves clients of every revision. Clients detect the era of a server; here it is set to test both.
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
  console.log(`${ann.revision}: ann searched, confirmed, wrote and received the change; bob sees only ${names}`)
}

await assert.rejects(connect(http(url)), /401/)
console.log('anonymous: rejected')

// Rejects new calls, waits for running calls, then closes the port.
await drain(1_000)
await assert.rejects(connect(http(url)), { name: 'ConnectionError' })
console.log('ok')

async function search(client: Client<Notes>): Promise<void> {
  // The type of the server is known: an unknown tool or a wrong argument does not compile.
  assert.deepEqual(await client.tools.search({ word: 'milk' }), { ids: ['1'] })

  const steps: number[] = []
  await client.callTool('search', { word: 'milk' }, { onProgress: ({ progress }) => steps.push(progress) })
  assert.deepEqual(steps, [1])
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
