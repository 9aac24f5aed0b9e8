import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { type HttpServer, type ServeHttpOptions, serveHttp } from '../node/serve-http.ts'
import { gate, HandWritten, request } from './server.fixture.ts'

const TTL = 400

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function start(options: ServeHttpOptions = {}) {
  const begun = gate<AbortSignal>()
  const released = gate()
  const server = new HandWritten({
    async 'tools/call'(_params, { signal }) {
      begun.open(signal)
      await released.promise
      return { content: [] }
    },
  })
  const http: HttpServer = await serveHttp(server, { port: 0, sessions: { ttl: TTL }, ...options })
  closers.push(() => http.close())
  const post = (message: object, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(http.url, {
      method: 'POST',
      body: JSON.stringify(message),
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      ...(signal && { signal }),
    })
  const clientInfo = { name: 'test', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const opened = await post(request('initialize', params))
  const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id') as string }
  const stop = new AbortController()
  const called = post(request('tools/call', { name: 'wait' }), headers, stop.signal)
  called.catch(() => {})
  return { signal: await begun.promise, called, leave: () => stop.abort(), release: () => released.open() }
}

describe('a call of a session that has expired', () => {
  it('is aborted if its client has disconnected, because nobody can receive its result', async () => {
    const { signal, leave } = await start()
    leave()
    await expect.poll(() => signal.aborted, { timeout: 5_000 }).toBe(true)
    expect(signal.reason).toMatchObject({ name: 'ConnectionError', message: 'The session has expired' })
  })

  it.each([
    ['for a stream', { keepAlive: 30 }],
    ['for JSON', { responses: 'json' } as const],
  ])('keeps running while its client waits %s', async (_, options) => {
    const { signal, called, release } = await start(options)
    await delay(4 * TTL)
    expect(signal.aborted).toBe(false)
    release()
    expect(await (await called).text()).toContain('"result"')
  })

  it('keeps running without its client until the session expires', async () => {
    const { signal, leave } = await start({ sessions: { ttl: 60_000 } })
    leave()
    await delay(4 * TTL)
    expect(signal.aborted).toBe(false)
  })
})
