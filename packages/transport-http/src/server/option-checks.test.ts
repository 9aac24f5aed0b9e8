import type { Responder } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { serveHttp } from '../node/serve-http.ts'
import type { EndpointOptions } from './options.ts'
import { get, HandWritten, LEGACY, modern, post, postModern } from './server.fixture.ts'

const server = new HandWritten({ 'tools/list': () => ({ tools: [] }) })

/** As those pass them who have no types. */
const build = (options: object) => mcp(server, options as EndpointOptions)

describe('a limit of an endpoint', () => {
  it.each([
    [{ limits: { body: Number.NaN } }, 'limits.body: expected a number of 0 or more, got NaN'],
    [{ limits: { body: '1mb' } }, 'limits.body: expected a number of 0 or more, got 1mb'],
    [{ limits: { running: -1 } }, 'limits.running: expected a number of 0 or more, got -1'],
    [{ limits: { unsent: null } }, 'limits.unsent: expected a number of 0 or more, got null'],
    [{ keepAlive: Number.NaN }, 'keepAlive: expected a number of ms from 1, or Infinity, got NaN'],
    [{ keepAlive: 0 }, 'keepAlive: expected a number of ms from 1, or Infinity, got 0'],
    [{ keepAlive: '15s' }, 'keepAlive: expected a number of ms from 1, or Infinity, got 15s'],
    [{ bodyTimeout: 0 }, 'bodyTimeout: expected a number of ms from 1, or Infinity, got 0'],
    [{ sessions: { ttl: Number.NaN } }, 'sessions.ttl: expected a number of ms from 1, or Infinity, got NaN'],
    [{ sessions: { awayTimeout: 0 } }, 'sessions.awayTimeout: expected a number of ms from 1, or Infinity, got 0'],
    [{ sessions: { ttl: 0 } }, 'sessions.ttl: expected a number of ms from 1, or Infinity, got 0'],
    [{ sessions: { retry: '1s' } }, 'sessions.retry: expected a whole number of ms from 0, got 1s'],
    [{ sessions: { retry: 0.5 } }, 'sessions.retry: expected a whole number of ms from 0, got 0.5'],
    [{ sessions: { retry: -1 } }, 'sessions.retry: expected a whole number of ms from 0, got -1'],
    [
      { sessions: { retry: Number.POSITIVE_INFINITY } },
      'sessions.retry: expected a whole number of ms from 0, got Infinity',
    ],
  ])('must be a number, unlike in %j', async (options, message) => {
    expect(() => build(options)).toThrow(new RangeError(message))
    await expect(serveHttp(server, { port: 0, ...(options as EndpointOptions) })).rejects.toThrow(message)
  })

  it('has a default', async () => {
    const app = build({ limits: { body: undefined }, keepAlive: undefined })
    expect((await post(app, 'x'.repeat(5_000_000))).status).toBe(413)
  })
})

describe('the allowed hosts and origins', () => {
  const origins = 'expected a list of origins such as "https://app.example.com"'
  const hosts = 'expected a list of hosts such as "mcp.example.com" or "mcp.example.com:8443"'

  it.each([
    [{ allowedHosts: 'localhost' }, `allowedHosts: ${hosts}, or "*", got "localhost"`],
    [{ allowedHosts: ['https://a.example'] }, `allowedHosts: ${hosts}, or "*", got "https://a.example"`],
    [{ allowedHosts: ['a.example', '*'] }, `allowedHosts: ${hosts}, or "*", got "*"`],
    [{ allowedHosts: ['*.a.example'] }, `allowedHosts: ${hosts}, or "*", got "*.a.example"`],
    [{ allowedHosts: ['::1'] }, `allowedHosts: ${hosts}, or "*", got "::1"`],
    [{ allowedHosts: ['a.example/mcp'] }, `allowedHosts: ${hosts}, or "*", got "a.example/mcp"`],
    [{ allowedOrigins: ['a.example'] }, `allowedOrigins: ${origins}, or "*", got "a.example"`],
    [{ allowedOrigins: ['https://a.example/'] }, `allowedOrigins: ${origins}, or "*", got "https://a.example/"`],
    [{ allowedOrigins: ['https://*.a.example'] }, `allowedOrigins: ${origins}, or "*", got "https://*.a.example"`],
    [{ allowedOrigins: [/a/] }, `allowedOrigins: ${origins}, or "*", got {}`],
    [{ cors: 'https://a.example' }, `cors: ${origins}, or true or false, got "https://a.example"`],
    [{ cors: '*' }, `cors: ${origins}, or true or false, got "*"`],
    [{ cors: ['*'] }, `cors: ${origins}, or true or false, got "*"`],
  ])('cannot be %j', (options, message) => {
    expect(() => build(options)).toThrow(new TypeError(message))
  })

  it('can be names, addresses, ports and schemes', async () => {
    const allowedHosts = ['localhost', '[::1]:80', '127.0.0.1:3000', 'My-Host.example', 'a_b']
    const allowedOrigins = [
      'http://localhost:5173',
      'https://[::1]',
      'null',
      'vscode-webview://a1',
      'HTTPS://A.example',
    ]
    const app = build({ allowedHosts, allowedOrigins, cors: ['capacitor://localhost'] })
    for (const origin of [...allowedOrigins, 'capacitor://localhost'])
      expect((await postModern(app, modern('tools/list'), { origin })).status).toBe(200)
    expect(() => build({ allowedHosts: '*', allowedOrigins: '*', cors: true })).not.toThrow()
  })
})

describe('an endpoint', () => {
  it.each([
    [{ responses: 'sse' }, 'responses: expected "auto", "json" or "events", got "sse"'],
    [{ authenticate: 'secret' }, 'authenticate: expected a function, got "secret"'],
    [{ onWarning: {} }, 'onWarning: expected a function, got {}'],
    [{ toolSchemas: {} }, 'toolSchemas: expected a function, got {}'],
  ])('rejects the options %j', (options, message) => {
    expect(() => build(options)).toThrow(new TypeError(message))
  })

  it.each([undefined, null, {}, () => 1])('rejects %s instead of a server', async (given) => {
    const said = /^expected a server, such as the result of createServer\(\), got /
    expect(() => mcp(given as unknown as Responder)).toThrow(said)
    await expect(serveHttp(given as unknown as Responder, { port: 0 })).rejects.toThrow(said)
  })

  it('accepts valid numbers for sessions', async () => {
    const app = build({ sessions: { ttl: Number.POSITIVE_INFINITY, retry: 0 }, keepAlive: Number.POSITIVE_INFINITY })
    expect((await get(app, { 'mcp-protocol-version': LEGACY })).status).toBe(405)
  })
})
