/** Logs in to a protected server in three ways, and sees that nobody else gets in. `npm start` */
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

// In place of a browser, and of a user who clicks: whatever page is opened, it leads straight back.
const open = async (page: URL): Promise<boolean> => (await fetch(page)).ok

for (const era of ['modern', 'legacy'] as const) {
  // All there is to say: how the user gets to a browser. Everything else is found out from the server.
  const auth = oauth({ redirect: loopbackRedirect({ open }) })
  const user = await connect<Diary>(http(url, { auth }), { era })
  assert.deepEqual(await user.tools.whoami({}), { subject: 'ada', scopes: ['notes'] })
  // Needs a scope more: the user is asked again, and the call goes on.
  assert.deepEqual((await user.callTool('write', { text: 'Dear diary' })).content, [{ type: 'text', text: 'Written.' }])
  assert.ok((await user.tools.whoami({})).scopes.includes('notes:write'))
  await user.close()
  console.log(`${user.revision}: a user logged in, and was asked once more to write`)

  const job = await connect<Diary>(http(url, { auth: clientCredentials({ ...machine, scope: 'notes' }) }), { era })
  assert.deepEqual(await job.tools.whoami({}), { subject: 'nightly-job', scopes: ['notes'] })
  await job.close()
  console.log(`${job.revision}: a machine came in by its secret`)

  // A token that is stolen on its way is of no use without the key of this client.
  const bound = clientCredentials({ ...machine, scope: 'notes', dpop: true })
  const careful = await connect<Diary>(http(url, { auth: bound }), { era })
  assert.equal((await careful.tools.whoami({})).subject, 'nightly-job')
  await careful.close()
  console.log(`${careful.revision}: and once more with a token that is bound to a key`)
}

// What a client sees that knows nothing yet: where to go, and what for.
const knock = await fetch(url, { method: 'POST' })
assert.equal(knock.status, 401)
const [, metadata = ''] = /resource_metadata="([^"]+)"/.exec(knock.headers.get('www-authenticate') ?? '') ?? []
const { resource, authorization_servers: issuers } = await (await fetch(metadata)).json()
assert.deepEqual([resource, issuers], [url, [tokens.issuer]])
await assert.rejects(connect(http(url, { headers: { authorization: 'Bearer guess' } })), /401/)

await close()
tokens.close()
console.log('ok')
