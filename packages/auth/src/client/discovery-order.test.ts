import { describe, expect, it } from 'vitest'
import { oauth } from './oauth.ts'
import { memoryStore } from './store.ts'
import { json, World, type WorldOptions } from './world.fixture.ts'

const gone = () => new Response('', { status: 404 })
const AS = 'https://as.example'
const PRM = '/.well-known/oauth-protected-resource'
const metadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${AS}/authorize`,
  token_endpoint: `${AS}/token`,
  registration_endpoint: `${AS}/register`,
  code_challenge_methods_supported: ['S256'],
})

/** The documents that a client requests before the login, in their order. */
async function documentsFor(options: WorldOptions): Promise<string[]> {
  const world = new World(options)
  const response = await oauth({ redirect: world.redirect })(world.fetch)(world.mcp)
  expect(response.status).toBe(200)
  return world.requests.filter(({ url }) => url.pathname.includes('/.well-known/')).map(({ url }) => url.pathname)
}

describe('discovery', () => {
  it('requests the metadata of the server at the URL of the challenge, else below the path, else at the root [C-140]', async () => {
    const resource = () => json({ resource: 'https://mcp.example/mcp', authorization_servers: [AS] })
    const challenge = 'Bearer resource_metadata="https://mcp.example/elsewhere/.well-known/it"'
    const on = { 'https://mcp.example/elsewhere/.well-known/it': resource }
    expect((await documentsFor({ challenge, on }))[0]).toBe('/elsewhere/.well-known/it')
    expect((await documentsFor({ challenge: undefined }))[0]).toBe(`${PRM}/mcp`)
    expect((await documentsFor({ challenge: 'Basic realm="x"' }))[0]).toBe(`${PRM}/mcp`)
    const rooted = { [`https://mcp.example${PRM}/mcp`]: gone, [`https://mcp.example${PRM}`]: resource }
    expect((await documentsFor({ challenge: undefined, on: rooted })).slice(0, 2)).toEqual([`${PRM}/mcp`, PRM])
  })

  it.each([
    [`${AS}`, ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']],
    [
      `${AS}/t`,
      [
        '/.well-known/oauth-authorization-server/t',
        '/.well-known/openid-configuration/t',
        '/t/.well-known/openid-configuration',
      ],
    ],
  ])('requests the metadata of the authorization server %s in this order: %j [C-140]', async (issuer, paths) => {
    for (const [index, path] of paths.entries()) {
      const before = paths.slice(0, index).map((each) => [`${AS}${each}`, gone])
      const on = { ...Object.fromEntries(before), [`${AS}${path}`]: () => json(metadata(issuer)) }
      const asked = await documentsFor({ issuer, on, callback: { iss: null } })
      expect(asked.slice(1)).toEqual(paths.slice(0, index + 1))
    }
  })

  it('requires PKCE in a document of OpenID Connect too [C-143]', async () => {
    const { code_challenge_methods_supported: _, ...rest } = metadata(AS)
    const on = {
      [`${AS}/.well-known/oauth-authorization-server`]: gone,
      [`${AS}/.well-known/openid-configuration`]: () => json(rest),
    }
    const world = new World({ on })
    await expect(oauth({ redirect: world.redirect })(world.fetch)(world.mcp)).rejects.toMatchObject({
      step: 'authorization',
      message: expect.stringContaining('does not support PKCE'),
    })
    expect(world.logins).toBe(0)
  })
})

it.each([
  ['HTTPS://MCP.Example/mcp', 'https://mcp.example/mcp'],
  ['https://mcp.example:443/mcp#part', 'https://mcp.example/mcp'],
  ['https://mcp.example/', 'https://mcp.example'],
  ['https://mcp.example/mcp/', 'https://mcp.example/mcp/'],
  ['https://mcp.example/mcp?tenant=1', 'https://mcp.example/mcp?tenant=1'],
])('derives from the URL %s without metadata the resource %s [C-150]', async (url, resource) => {
  const { href } = new URL(url.split('#')[0] ?? '')
  const options = { issuer: 'https://mcp.example', challenge: undefined, callback: { iss: null } }
  const world = new World({ mcp: href.split('?')[0] ?? '', ...options })
  const legacy = (input: string | URL | Request, init?: RequestInit) =>
    String(input instanceof Request ? input.url : input).includes('/.well-known/')
      ? Promise.resolve(gone())
      : world.fetch(input, init)
  expect((await oauth({ redirect: world.redirect })(legacy)(url)).status).toBe(200)
  const [visit] = world.to('/authorize')
  expect(visit?.url.searchParams.get('resource')).toBe(resource)
  expect(new URLSearchParams(world.to('/token')[0]?.body).get('resource')).toBe(resource)
})

it.each([
  ['404', gone],
  ['410', () => new Response('', { status: 410 })],
  ['another document', () => json({ error: 'not found' })],
  ['a page', () => new Response('<title>Home</title>', { headers: { 'content-type': 'text/html' } })],
])('finds metadata that has moved since the last login, where now is %s', async (_, old) => {
  const before = 'https://mcp.example/old-metadata'
  const resource = () => json({ resource: 'https://mcp.example/mcp', authorization_servers: [AS] })
  const store = memoryStore()
  const first = new World({ challenge: `Bearer resource_metadata="${before}"`, on: { [before]: resource } })
  expect((await oauth({ redirect: first.redirect, store })(first.fetch)(first.mcp)).status).toBe(200)
  const second = new World({ challenge: 'Bearer', on: { [before]: old } })
  expect((await oauth({ redirect: second.redirect, store })(second.fetch)(second.mcp)).status).toBe(200)
  expect(second.logins).toBe(1)
})

it('does not look elsewhere for metadata that a challenge names', async () => {
  const named = 'https://mcp.example/metadata'
  const world = new World({ challenge: `Bearer resource_metadata="${named}"`, on: { [named]: gone } })
  await expect(oauth({ redirect: world.redirect })(world.fetch)(world.mcp)).rejects.toMatchObject({
    step: 'discovery',
    message: expect.stringContaining('HTTP status 404'),
  })
})

it('does not look elsewhere for metadata of an earlier login during an outage', async () => {
  const before = 'https://mcp.example/metadata'
  const resource = () => json({ resource: 'https://mcp.example/mcp', authorization_servers: [AS] })
  const store = memoryStore()
  const first = new World({ challenge: `Bearer resource_metadata="${before}"`, on: { [before]: resource } })
  expect((await oauth({ redirect: first.redirect, store })(first.fetch)(first.mcp)).status).toBe(200)
  const outage = new World({ challenge: 'Bearer', on: { [before]: () => new Response('', { status: 503 }) } })
  await expect(oauth({ redirect: outage.redirect, store })(outage.fetch)(outage.mcp)).rejects.toMatchObject({
    step: 'discovery',
    message: expect.stringContaining('HTTP status 503'),
  })
})
