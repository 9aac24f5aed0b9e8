/** Says who is asking. Anonymous callers are let in, to what is for everybody; whoever shows something has to be known. */
import type { DevAuthorizationServer } from '@mcpx/auth'
import { apiKeys, bearer, createMemoryReplayStore, firstOf } from '@mcpx/auth/resource-server'
import type { Guard } from '@mcpx/protocol'

/** Whoever brings the key, as `Authorization: Bearer <key>`, is an admin. */
export function guardByKey(adminKey: string): Guard {
  return lettingAnonymousIn(apiKeys({ keys: [{ key: adminKey, subject: 'admin', scopes: ['admin'] }] }))
}

/** The key comes as a header of its own; tokens are those of an authorization server. */
export function guardByLogin(url: string, login: DevAuthorizationServer, adminKey: string): Guard {
  const keys = apiKeys({ keys: [{ key: adminKey, subject: 'admin', scopes: ['admin'] }], header: 'x-api-key' })
  const tokens = bearer({
    audience: url,
    issuer: login.issuer,
    // The authorization server is in this process: no network leads there.
    fetch: (input, init) => login.fetch(new Request(input, init)),
    dpop: { replays: createMemoryReplayStore({ maxIds: 10_000 }) },
    onRefused: ({ status, description }) => console.error(`refused with ${status}: ${description}`),
  })
  return lettingAnonymousIn(firstOf(keys, tokens))
}

function lettingAnonymousIn(known: Guard): Guard {
  const guard: Guard = (request) => {
    const { headers } = request
    return headers.has('authorization') || headers.has('x-api-key') ? known(request) : undefined
  }
  // Metadata that says where to log in, and the challenge that sends callers there.
  return Object.assign(guard, { metadata: known.metadata, refuse: known.refuse })
}
