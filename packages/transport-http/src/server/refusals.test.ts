import type { RefusedRequest, Telemetry } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { type EndpointOptions, mcp } from '../index.ts'
import { get, HandWritten, MODERN, modern, openSession, post, postModern, request } from './server.fixture.ts'

function start(telemetry: Telemetry, options: EndpointOptions = {}) {
  const server = Object.assign(new HandWritten({ 'tools/list': () => ({ tools: [] }) }), { telemetry })
  return mcp(server, options)
}

/** An endpoint, and the statuses of the requests that it has refused. */
function startObserved(options: EndpointOptions = {}) {
  const statuses: number[] = []
  const telemetry: Telemetry = { onRefuse: ({ status }) => void statuses.push(status) }
  return { app: start(telemetry, options), statuses }
}

type App = ReturnType<typeof start>

const refused: readonly [string, number, EndpointOptions, (app: App) => Promise<Response>][] = [
  ['without credentials', 401, { authenticate: () => new Response(null, { status: 401 }) }, (app) => post(app, {})],
  ['for a host', 403, { allowedHosts: ['mcp.example'] }, (app) => post(app, {})],
  ['for an origin', 403, {}, (app) => post(app, {}, { origin: 'https://other.example' })],
  [
    'for an origin, with CORS',
    403,
    { cors: true },
    (app) => post(app, modern('tools/list'), { origin: 'https://other.example' }),
  ],
  ['for a session', 404, {}, (app) => post(app, request('tools/list'), { 'mcp-session-id': 'unknown' })],
  ['for a method', 405, {}, (app) => get(app, { accept: 'text/event-stream' })],
  ['for Accept', 406, { strictAccept: true }, (app) => post(app, {}, { accept: 'text/plain' })],
  ['for the size of the body', 413, { limits: { body: 10 } }, (app) => post(app, modern('tools/list'))],
  ['for the type of the body', 415, {}, (app) => post(app, {}, { 'content-type': 'text/plain' })],
  ['for invalid JSON', 400, {}, (app) => post(app, '{')],
  [
    'for an unknown revision',
    400,
    {},
    (app) => post(app, modern('tools/list'), { 'mcp-protocol-version': '2999-01-01' }),
  ],
]

describe('the observer of a server is notified of a request that is refused', () => {
  it.each(refused)('%s, with %i', async (_, status, options, send) => {
    const { app, statuses } = startObserved(options)
    expect((await send(app)).status).toBe(status)
    expect(statuses).toEqual([status])
  })

  it('for too many requests, with 503', async () => {
    const { app, statuses } = startObserved({ limits: { running: 0 } })
    expect((await postModern(app, modern('tools/list'))).status).toBe(503)
    expect(statuses).toEqual([503])
  })

  it('but not of one whose message was handled, whatever its status', async () => {
    const { app, statuses } = startObserved()
    expect((await postModern(app, modern('tools/list'))).status).toBe(200)
    expect((await postModern(app, modern('unknown/method'))).status).toBe(404)
    await openSession(app)
    expect((await post(app, { jsonrpc: '2.0', method: 'x' }, { 'mcp-protocol-version': MODERN })).status).toBe(202)
    expect(statuses).toEqual([])
  })

  it('but not while it is not active', async () => {
    const seen: RefusedRequest[] = []
    const app = start({ isActive: false, onRefuse: (each) => void seen.push(each) })
    expect((await post(app, '{')).status).toBe(400)
    expect(seen).toEqual([])
  })
})

it('an observer that throws is a warning', async () => {
  const warnings: string[] = []
  const onRefuse = () => {
    throw new Error('no disk')
  }
  const app = start({ onRefuse }, { onWarning: ({ message }) => void warnings.push(message) })
  expect((await post(app, '{')).status).toBe(400)
  expect(warnings).toEqual(['no disk'])
})
