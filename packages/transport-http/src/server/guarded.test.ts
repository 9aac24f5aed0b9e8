import { type AuthInfo, errorMessage, type Guard, insufficientScope, type Responder } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import {
  eventsOf,
  gate,
  get,
  HandWritten,
  json,
  LEGACY,
  type Method,
  modern,
  openSession,
  post,
  postModern,
  request,
} from './server.fixture.ts'

const ada: AuthInfo = { subject: 'ada', scopes: ['read'] }
const endsIn = (ms: number): AuthInfo => ({ ...ada, expiresAt: (Date.now() + ms) / 1000 })

/** Answers the handshake, and that everything else needs more scopes. */
function scoped(): Responder {
  const hand = new HandWritten()
  return {
    respond(message, exchange) {
      if (!('id' in message) || message.method === 'initialize') return hand.respond(message, exchange)
      return errorMessage(message.id, insufficientScope(['write', 'admin']))
    },
  }
}

const guard = (auth: AuthInfo | undefined): Guard =>
  Object.assign(() => auth, {
    refuse: (
      _: Request,
      { requiredScopes, auth: who }: { requiredScopes: readonly string[]; auth: AuthInfo | undefined },
    ) =>
      new Response(null, {
        status: 403,
        headers: { 'www-authenticate': `Bearer scope="${[...(who?.scopes ?? []), ...requiredScopes].join(' ')}"` },
      }),
  })

describe('a caller without required scopes', () => {
  const seen = async (response: Response) => [
    response.status,
    response.headers.get('www-authenticate'),
    await json(response),
  ]
  const body = {
    jsonrpc: '2.0',
    id: 1,
    error: { ...insufficientScope(['write', 'admin']), message: expect.any(String) },
  }
  delete (body.error as { name?: string }).name

  it('is challenged by the guard, with the error as the body, in the modern era [S-274]', async () => {
    const app = mcp(scoped(), { authenticate: guard(ada) })
    const expected = [403, 'Bearer scope="read write admin"', body]
    expect(await seen(await postModern(app, modern('tools/list')))).toEqual(expected)
  })

  it('is challenged in a session, too [S-274]', async () => {
    const app = mcp(scoped(), { authenticate: guard(ada) })
    const session = await openSession(app)
    const answer = await post(app, request('tools/list'), { 'mcp-session-id': session })
    expect(await seen(answer)).toEqual([403, 'Bearer scope="read write admin"', body])
  })

  it('is challenged by a plain function too [S-272]', async () => {
    const known = mcp(scoped(), { authenticate: () => ada })
    expect((await seen(await postModern(known, modern('tools/list')))).slice(0, 2)).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="read write admin"',
    ])
    const nobody = mcp(scoped())
    expect((await seen(await postModern(nobody, modern('tools/list')))).slice(0, 2)).toEqual([
      401,
      'Bearer scope="write admin"',
    ])
  })
})

describe('a stream of a caller with expiring credentials', () => {
  const talk: (heard: () => void) => Method = (heard) => async (_, exchange) => {
    await exchange.notify('notifications/message', { level: 'info', data: 'hello' })
    await new Promise((resolve) => exchange.signal.addEventListener('abort', resolve, { once: true }))
    heard()
    return {}
  }

  it('ends with the credentials and aborts the call in the modern era [S-273]', async () => {
    const aborted = gate()
    const app = mcp(new HandWritten({ 'x/talk': talk(aborted.open) }), { authenticate: () => endsIn(80) })
    const events = eventsOf(await postModern(app, modern('x/talk')))
    expect(await events.message()).toMatchObject({ method: 'notifications/message' })
    expect(await events.message()).toBeUndefined()
    await aborted.promise
  })

  it('ends exactly on time, independently of comments', async () => {
    for (const keepAlive of [20, Number.POSITIVE_INFINITY]) {
      const aborted = gate()
      const app = mcp(new HandWritten({ 'x/talk': talk(aborted.open) }), { keepAlive, authenticate: () => endsIn(90) })
      const start = Date.now()
      await eventsOf(await postModern(app, modern('x/talk'))).rest()
      expect(Date.now() - start).toBeGreaterThanOrEqual(85)
      expect(Date.now() - start).toBeLessThan(600)
      await aborted.promise
    }
  })

  it('ends in a session while the call continues, and is resumed with new credentials', async () => {
    const done = gate()
    const methods: Record<string, Method> = {
      async 'x/work'(_, exchange) {
        await exchange.notify('notifications/message', { level: 'info', data: 'begun' })
        await done.promise
        return { done: true }
      },
    }
    let auth = endsIn(60_000)
    const app = mcp(new HandWritten(methods), { authenticate: () => auth })
    const session = { 'mcp-session-id': await openSession(app), 'mcp-protocol-version': LEGACY }
    auth = endsIn(80)
    const events = eventsOf(await post(app, request('x/work'), session))
    const first = await events.next()
    await events.rest()
    auth = endsIn(60_000)
    const rest = eventsOf(await get(app, { ...session, 'last-event-id': first?.id as string }))
    done.open()
    expect((await rest.rest()).at(-1)).toMatchObject({ result: { done: true } })
  })

  it('ends the GET stream of a session', async () => {
    const feed = Object.assign(new HandWritten(), {
      watchChanges: () => () => {},
    })
    let auth = endsIn(60_000)
    const app = mcp(feed as unknown as Responder, { authenticate: () => auth })
    const session = { 'mcp-session-id': await openSession(app) }
    auth = endsIn(80)
    expect(await eventsOf(await get(app, session)).rest()).toEqual([])
  })
})

describe('the metadata of a guard', () => {
  const metadata = (asked: Request) => (asked.url.endsWith('/meta') ? new Response('open') : undefined)
  const app = mcp(new HandWritten(), {
    authenticate: Object.assign(() => new Response(null, { status: 401 }), { metadata }),
  })

  it('is public, also for pages, and does not bypass the guard [S-271, S-282]', async () => {
    const headers = { origin: 'https://elsewhere.example', host: 'elsewhere.example' }
    expect(await (await app.request('/meta', { headers })).text()).toBe('open')
    expect((await app.request('/meta', { method: 'POST', headers })).status).toBe(403)
    expect((await app.request('/other', { method: 'POST' })).status).toBe(401)
  })
})

describe('a guard that changes the headers of a request', () => {
  it('applies the changed headers', async () => {
    const authenticate = (from: Request) => {
      from.headers.set('mcp-method', 'other')
      return ada
    }
    const app = mcp(new HandWritten({ ping: () => ({}) }), { authenticate })
    const response = await postModern(app, modern('ping'))
    expect([response.status, await json(response)]).toMatchObject([400, { error: { code: -32020 } }])
  })
})

describe('a session', () => {
  it('belongs to a subject of one issuer [S-278]', async () => {
    let auth: AuthInfo = { ...ada, issuer: 'https://one.example' }
    const app = mcp(new HandWritten({ ping: () => ({}) }), { authenticate: () => auth })
    const session = { 'mcp-session-id': await openSession(app) }
    expect((await post(app, request('ping'), session)).status).toBe(200)
    for (const other of [{ ...ada, issuer: 'https://two.example' }, ada, { ...auth, subject: 'bob' }]) {
      auth = other
      expect((await post(app, request('ping'), session)).status).toBe(404)
    }
  })
})
