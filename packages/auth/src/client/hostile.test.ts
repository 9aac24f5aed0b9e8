import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AuthError } from '../auth-error.ts'
import { oauth } from './oauth.ts'
import { caught, json, World, type WorldOptions } from './world.fixture.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`FC_SEED=${seed}`)

const value = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(
    'https://as.example',
    'https://as.example/token',
    'https://10.0.0.1',
    'javascript:0',
    '',
    '%',
    Number.MAX_VALUE,
    -1,
  ),
  fc.webUrl(),
)

/** One or two members with invalid values. */
const broken = (names: readonly string[]) => fc.dictionary(fc.constantFrom(...names), value, { minKeys: 1, maxKeys: 2 })

const resource = ['resource', 'authorization_servers', 'scopes_supported']
const server = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'scopes_supported',
  'grant_types_supported',
  'token_endpoint_auth_methods_supported',
  'code_challenge_methods_supported',
  'client_id_metadata_document_supported',
]
const token = ['access_token', 'token_type', 'expires_in', 'refresh_token', 'scope', 'error', 'error_description']
const registration = ['client_id', 'client_secret', 'client_secret_expires_at', 'token_endpoint_auth_method', 'error']

/** Logs in or fails with `AuthError`, with a limited number of requests to permitted URLs. */
async function survives(options: WorldOptions): Promise<void> {
  const world = new World(options)
  const fetch = oauth({ redirect: world.redirect })(world.fetch)
  for (let call = 0; call < 2; call++) {
    const outcome = await fetch(world.mcp).catch((error: unknown) => error)
    expect(outcome instanceof Response || outcome instanceof AuthError, String(outcome)).toBe(true)
  }
  expect(world.requests.length).toBeLessThan(40)
  const inner = world.requests.filter(({ url }) => url.hostname === '10.0.0.1' || url.protocol !== 'https:')
  expect(inner.map(({ url }) => url.href)).toEqual([])
}

describe('a client survives invalid', () => {
  it.each([
    ['metadata of the resource', broken(resource).map((resource): WorldOptions => ({ resource }))],
    ['metadata of the authorization server', broken(server).map((server): WorldOptions => ({ server }))],
    ['responses of the token endpoint', broken(token).map((token): WorldOptions => ({ token }))],
    [
      'registrations',
      broken(registration).map(
        (body): WorldOptions => ({ on: { 'https://as.example/register': () => json(body, 201) } }),
      ),
    ],
    [
      'challenges',
      fc
        .string({ maxLength: 100 })
        .filter((text) => /^[\x20-\x7e]*$/.test(text))
        .map((challenge): WorldOptions => ({ challenge: `Bearer ${challenge}` })),
    ],
    [
      'bodies of any kind',
      fc
        .tuple(
          fc.constantFrom(
            'https://mcp.example/.well-known/oauth-protected-resource/mcp',
            'https://as.example/.well-known/oauth-authorization-server',
            'https://as.example/token',
          ),
          fc.string(),
          fc.integer({ min: 200, max: 599 }),
        )
        .map(
          ([url, body, status]): WorldOptions => ({
            on: { [url]: () => new Response([204, 205, 304].includes(status) ? null : body, { status }) },
          }),
        ),
    ],
  ])('%s', async (_, worlds) => {
    await fc.assert(fc.asyncProperty(worlds, survives), { seed, numRuns: 60 })
  })
})

const refusing = Object.assign(new Set<string>(), { has: () => false })

it.each<[string, WorldOptions]>([
  ['authorization servers', { resource: { authorization_servers: ['https://as.example/\u001b[31m\u009b'] } }],
  ['an error of a challenge', { challenge: 'Bearer error="a\u009b31m"', valid: refusing }],
])('removes control characters from %s in error messages', async (_, options) => {
  const world = new World(options)
  const bound = 'resource' in options ? { issuer: 'https://good.example' } : {}
  const { message } = (await caught(() =>
    oauth({ redirect: world.redirect, ...bound })(world.fetch)(world.mcp),
  )) as Error
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
  expect(message).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
})
