/**
 * Logs in to a protected server with three kinds of credentials, and checks that other credentials are rejected. `npm
 * start`
 */
import { strict as assert } from 'node:assert'
import { clientCredentials, oauth } from '@mcpx/auth/client'
import { loopbackRedirect } from '@mcpx/auth/node'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import type { Diary } from './server.ts'
import { machine, serveDiary, serveTokens } from './serving.ts'

const tokens = await serveTokens()
const { url, close } = await serveDiary(tokens.issuer)
console.log(`a diary on ${url}, tokens from ${tokens.issuer}`)

// Simulates the browser and its user: the opened page redirects back immediately.
const open = async (page: URL): Promise<boolean> => (await fetch(page)).ok

for (const era of ['modern', 'legacy'] as const) {
  // Only the redirect is configured. Everything else is discovered from the server.
  const auth = oauth({ redirect: loopbackRedirect({ open }) })
  const user = await connect<Diary>(http(url, { auth }), { era })
  assert.deepEqual(await user.tools.whoami({}), { subject: 'ada', scopes: ['notes'] })
  // This tool needs another scope: the client asks the user again and retries the call.
  assert.deepEqual((await user.callTool('write', { text: 'Dear diary' })).content, [{ type: 'text', text: 'Written.' }])
  assert.ok((await user.tools.whoami({})).scopes.includes('notes:write'))
  await user.close()
  console.log(`${user.revision}: a user logged in, then granted the scope to write`)

  const job = await connect<Diary>(http(url, { auth: clientCredentials({ ...machine, scope: 'notes' }) }), { era })
  assert.deepEqual(await job.tools.whoami({}), { subject: 'nightly-job', scopes: ['notes'] })
  await job.close()
  console.log(`${job.revision}: a machine logged in with its client secret`)

  // A stolen DPoP token is useless without the key of this client.
  const dpopAuth = clientCredentials({ ...machine, scope: 'notes', dpop: true })
  const dpopClient = await connect<Diary>(http(url, { auth: dpopAuth }), { era })
  assert.equal((await dpopClient.tools.whoami({})).subject, 'nightly-job')
  await dpopClient.close()
  console.log(`${dpopClient.revision}: a machine logged in with a DPoP-bound token`)
}

// A client without a token learns from the 401 response where to log in.
const challenge = await fetch(url, { method: 'POST' })
assert.equal(challenge.status, 401)
const [, metadata = ''] = /resource_metadata="([^"]+)"/.exec(challenge.headers.get('www-authenticate') ?? '') ?? []
const { resource, authorization_servers: issuers } = await (await fetch(metadata)).json()
assert.deepEqual([resource, issuers], [url, [tokens.issuer]])
await assert.rejects(connect(http(url, { headers: { authorization: 'Bearer guess' } })), /401/)

await close()
tokens.close()
console.log('ok')
