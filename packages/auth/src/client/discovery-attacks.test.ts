import { describe } from 'vitest'
import { type Attack, endless, refuses, silent } from './attack.fixture.ts'
import { json, to, type WorldOptions } from './world.fixture.ts'

const prm = 'https://mcp.example/.well-known/oauth-protected-resource/mcp'
const metadata = 'https://as.example/.well-known/oauth-authorization-server'
const slow = (request: Request) =>
  new Response(
    new ReadableStream({
      start(controller) {
        request.signal.addEventListener('abort', () => controller.error(request.signal.reason))
      },
    }),
  )

/** Metadata that names this authorization server. */
const serverAt = (issuer: string): WorldOptions => ({ resource: { authorization_servers: [issuer] } })
const endpointAt = (name: string, url: unknown): WorldOptions => ({ server: { [name]: url } })

const discovery: readonly Attack[] = [
  {
    name: 'metadata of another origin',
    world: { challenge: 'Bearer resource_metadata="https://evil.example/prm"' },
    step: 'discovery',
    says: /leads to another origin than https:\/\/mcp\.example/,
    never: 'evil.example',
  },
  {
    name: 'metadata in a private network',
    world: { challenge: 'Bearer resource_metadata="https://10.0.0.1/prm"' },
    step: 'discovery',
    says: /leads to a private network/,
    never: '10.0.0.1',
  },
  {
    name: 'metadata at a cloud metadata service',
    world: { challenge: 'Bearer resource_metadata="http://169.254.169.254/latest"' },
    step: 'discovery',
    says: /must use https:/,
    never: '169.254.169.254',
  },
  {
    name: 'metadata at a file',
    world: { challenge: 'Bearer resource_metadata="file:///etc/passwd"' },
    step: 'discovery',
    says: /must use https:, not file:/,
  },
  {
    name: 'metadata at an invalid URL',
    world: { challenge: 'Bearer resource_metadata="//"' },
    step: 'discovery',
    says: /is not a URL/,
  },
  {
    name: 'metadata of another resource',
    world: { resource: { resource: 'https://bank.example/mcp' } },
    step: 'discovery',
    says: /describes https:\/\/bank\.example\/mcp, not https:\/\/mcp\.example\/mcp/,
  },
  {
    name: 'metadata of another path',
    world: { resource: { resource: 'https://mcp.example/other' } },
    step: 'discovery',
    says: /describes https:\/\/mcp\.example\/other/,
  },
  {
    name: 'metadata of a path with a common prefix',
    world: { resource: { resource: 'https://mcp.example/mc' } },
    step: 'discovery',
    says: /describes https:\/\/mcp\.example\/mc,/,
  },
  {
    name: 'a tenant that names the whole origin as its resource',
    world: {
      challenge: 'Bearer resource_metadata="https://mcp.example/mcp/prm"',
      on: {
        'https://mcp.example/mcp/prm': () =>
          json({ resource: 'https://mcp.example', authorization_servers: ['https://as.example'] }),
      },
    },
    step: 'discovery',
    says: /describes https:\/\/mcp\.example, not/,
  },
  {
    name: 'metadata without an authorization server',
    world: { resource: { authorization_servers: [] } },
    step: 'discovery',
    says: /names no authorization_servers/,
  },
  {
    name: 'metadata that is not an object',
    world: { on: { [prm]: () => json(['x']) } },
    step: 'discovery',
    says: /not a JSON object/,
  },
  {
    name: 'metadata with a very deep value as its resource',
    world: { on: { [prm]: () => new Response(`{"resource":${'['.repeat(60_000)}${']'.repeat(60_000)}}`) } },
    step: 'discovery',
    says: /The metadata describes a value that is nested too deeply/,
  },
  {
    name: 'missing metadata that the challenge names',
    world: { on: { [prm]: () => json({}, 404) } },
    step: 'discovery',
    says: /refused with HTTP status 404/,
  },
  {
    name: 'metadata that redirects to another origin',
    world: { on: { [prm]: () => to('https://evil.example/prm') } },
    step: 'discovery',
    says: /redirect was not followed: it leads to another origin, https:\/\/evil\.example/,
    never: 'evil.example',
  },
  {
    name: 'metadata with an endless chain of redirects',
    world: { on: { [prm]: () => to(prm) } },
    step: 'discovery',
    says: /more than 3 in a row/,
  },
  {
    name: 'metadata with an endless body',
    world: { on: { [prm]: endless } },
    step: 'discovery',
    says: /over 131072 bytes/,
  },
  {
    name: 'metadata without a response',
    world: { on: { [prm]: silent } },
    options: { timeout: 50 },
    step: 'discovery',
    says: /No response within 50 ms/,
  },
  {
    name: 'metadata whose body never ends',
    world: { on: { [prm]: slow } },
    options: { timeout: 50 },
    step: 'discovery',
    says: /No response within 50 ms/,
  },
  {
    name: 'status 503 instead of metadata',
    world: { challenge: undefined, on: { [prm]: () => json({}, 503) } },
    step: 'discovery',
    says: /refused with HTTP status 503/,
  },
  {
    name: 'an authorization server over plain HTTP',
    world: serverAt('http://as.example'),
    step: 'discovery',
    says: /must use https:/,
    never: 'as.example',
  },
  {
    name: 'an authorization server on this machine',
    world: serverAt('http://127.0.0.1:8080'),
    step: 'discovery',
    says: /leads to this machine/,
    never: '127.0.0.1',
  },
  {
    name: 'an authorization server on this machine, in hex',
    world: serverAt('https://0x7f000001'),
    step: 'discovery',
    says: /leads to this machine/,
    never: '127.0.0.1',
  },
  {
    name: 'an authorization server on this machine, in IPv6',
    world: serverAt('https://[::ffff:127.0.0.1]'),
    step: 'discovery',
    says: /leads to this machine/,
  },
  {
    name: 'an authorization server in a private network',
    world: serverAt('https://192.168.1.1'),
    step: 'discovery',
    says: /leads to a private network/,
    never: '192.168.1.1',
  },
  {
    name: 'an authorization server with an internal name',
    world: serverAt('https://vault.internal'),
    step: 'discovery',
    says: /leads to a private network/,
    never: 'vault.internal',
  },
  {
    name: 'a public name that resolves to a private address',
    world: serverAt('https://rebind.example'),
    options: { resolve: (name) => [name === 'rebind.example' ? '10.1.2.3' : '93.184.216.34'] },
    step: 'discovery',
    says: /leads to a private network/,
    never: 'rebind.example',
  },
  {
    name: 'an authorization server URL with a password',
    world: serverAt('https://user:pass@as.example'),
    step: 'discovery',
    says: /contains a user name or a password/,
  },
  {
    name: 'an issuer with a query',
    world: serverAt('https://as.example?a=b'),
    step: 'discovery',
    says: /contains a query or a fragment/,
  },
  {
    name: 'metadata of another issuer',
    world: { server: { issuer: 'https://bank.example' } },
    step: 'discovery',
    says: /names https:\/\/bank\.example as its issuer, and https:\/\/as\.example was expected/,
  },
  {
    name: 'an issuer that differs by a slash',
    world: { server: { issuer: 'https://as.example/' } },
    step: 'discovery',
    says: /names https:\/\/as\.example\/ as its issuer, and/,
  },
  {
    name: 'an authorization server without metadata',
    world: { on: { [metadata]: () => json({}, 404) } },
    step: 'discovery',
    says: /No metadata was found; tried \/\.well-known\/oauth-authorization-server, \/\.well-known\/openid-configuration/,
  },
  {
    name: 'another authorization server than the one of the option',
    options: { issuer: 'https://bank.example' },
    step: 'discovery',
    says: /names https:\/\/as\.example as its authorization server, and this client is bound to https:\/\/bank\.example/,
    never: 'bank.example',
  },
  {
    name: 'a token endpoint on this machine',
    world: endpointAt('token_endpoint', 'https://localhost/token'),
    step: 'discovery',
    says: /token_endpoint leads to this machine/,
    never: 'localhost',
  },
  {
    name: 'a token endpoint over plain HTTP',
    world: endpointAt('token_endpoint', 'http://as.example/token'),
    step: 'discovery',
    says: /token_endpoint must use https:/,
  },
  {
    name: 'metadata without a token endpoint',
    world: endpointAt('token_endpoint', undefined),
    step: 'discovery',
    says: /names no token_endpoint/,
  },
  {
    name: 'a registration endpoint in a private network',
    world: endpointAt('registration_endpoint', 'https://172.16.0.1/r'),
    step: 'discovery',
    says: /registration_endpoint leads to a private network/,
  },
  {
    name: 'an authorization endpoint that is a script',
    world: endpointAt('authorization_endpoint', 'javascript:alert(1)'),
    step: 'discovery',
    says: /authorization_endpoint must use https:, not javascript:/,
  },
  {
    name: 'a server over plain HTTP',
    world: { mcp: 'http://mcp.example/mcp' },
    step: 'discovery',
    says: /The URL of the server must use https:/,
  },
]

describe('discovery refuses [C-141, C-142, C-156, C-157, C-158]', () => refuses(discovery))
