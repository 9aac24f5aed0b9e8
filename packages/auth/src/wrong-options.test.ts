import { describe, expect, it } from 'vitest'
import { clientCredentials, enterprise, localStorageStore, oauth, popupRedirect, workload } from './client.ts'
import { fileStore, loopbackRedirect } from './node.ts'
import { apiKeys, bearer } from './resource-server.ts'

/** Calls a function with options that its type refuses. */
function call<Options>(create: (options: Options) => unknown, options: object): () => unknown {
  return () => create(options as Options)
}

const server = { audience: 'https://example.com/mcp', issuer: 'https://login.example' }
const credentials = { clientId: 'app', clientSecret: 'secret' }
const identityProvider = { issuer: 'https://sso.example', clientId: 'app', subjectToken: 'token' }

describe('an option that does not exist', () => {
  it.each([
    ['bearer: there is no option "scope"; did you mean "scopes"?', call(bearer, { ...server, scope: ['admin'] })],
    [
      'bearer: there is no option "requiredScopes"; did you mean "scopes"?',
      call(bearer, { ...server, requiredScopes: [] }),
    ],
    [
      'dpop: there is no option "require"; did you mean "required"?',
      call(bearer, { ...server, dpop: { require: true } }),
    ],
    [
      'dpop.nonces: there is no option "secrets"; did you mean "secret"?',
      call(bearer, { ...server, dpop: { nonces: { secrets: [] } } }),
    ],
    [
      'introspection: there is no option "clientID"; did you mean "clientId"?',
      call(bearer, { ...server, introspection: { clientID: 'app', clientSecret: 'secret' } }),
    ],
    [
      'issuers: there is no option "jwksURI"; did you mean "jwksUri"?',
      call(bearer, { ...server, issuer: { issuer: server.issuer, jwksURI: 'https://login.example/keys' } }),
    ],
    [
      'apiKeys: there is no option "headers"; did you mean "header"?',
      call(apiKeys, { keys: [], headers: 'x-api-key' }),
    ],
    ['oauth: there is no option "scopes"; did you mean "scope"?', call(oauth, { scopes: ['files'] })],
    ['oauth: there is no option "client_id"; did you mean "clientId"?', call(oauth, { client_id: 'app' })],
    ['oauth: dpop: there is no option "alg"; expected one of algorithm', call(oauth, { dpop: { alg: 'ES256' } })],
    [
      'clientCredentials: there is no option "clientID"; did you mean "clientId"?',
      call(clientCredentials, { clientID: 'app', clientSecret: 'secret' }),
    ],
    ['workload: there is no option "token"; expected one of', call(workload, { token: 'token' })],
    [
      'enterprise: there is no option "identityprovider"; did you mean "identityProvider"?',
      call(enterprise, { ...credentials, identityprovider: identityProvider }),
    ],
    [
      'enterprise: identityProvider: there is no option "token"; expected one of',
      call(enterprise, { ...credentials, identityProvider: { ...identityProvider, token: 'token' } }),
    ],
    [
      'popupRedirect: there is no option "redirectURI"; did you mean "redirectUri"?',
      call(popupRedirect, { redirectURI: 'https://app.example/callback' }),
    ],
    [
      'localStorageStore: there is no option "prefixes"; did you mean "prefix"?',
      call(localStorageStore, { prefixes: 'a' }),
    ],
    ['loopbackRedirect: there is no option "ports"; did you mean "port"?', call(loopbackRedirect, { ports: [1] })],
    [
      'fileStore: there is no option "timeout"; expected one of lockTimeout',
      call((options: object) => fileStore('tokens.json', options), { timeout: 1 }),
    ],
  ])('is refused: %s', (message, create) => {
    expect(create).toThrow(TypeError)
    expect(create).toThrow(message)
  })

  it('is refused: a word for `dpop` of `bearer`, which would accept tokens without a proof', () => {
    expect(call(bearer, { ...server, dpop: 'require' })).toThrow(
      new TypeError('dpop: expected "optional", "required", false or an object, got "require"'),
    )
  })
})

describe('an option with another type', () => {
  it.each([
    ['keys: expected 16 to 1024 characters for each', call(apiKeys, { keys: [{ key: undefined, subject: 'ci' }] })],
    ['keys: expected at least one, got none', call(apiKeys, {})],
    [
      'redirect: expected a redirect such as loopbackRedirect(), got function',
      call(oauth, { redirect: loopbackRedirect }),
    ],
    [
      'redirect: expected a redirect such as loopbackRedirect(), got string',
      call(oauth, { redirect: 'https://a.example' }),
    ],
    ['redirect: expected a redirect such as loopbackRedirect(), got null', call(oauth, { redirect: null })],
  ])('is refused: %s', (message, create) => {
    expect(create).toThrow(message)
  })
})
