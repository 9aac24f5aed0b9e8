/** Connections that break at each phase of a call: the call returns its result or fails with a specific error. */

import { getActiveResourcesInfo } from 'node:process'
import { type Client, connect } from '@mcpx/client'
import type { Revision } from '@mcpx/protocol'
import { catchError, delay } from '@mcpx/testing'
import { type HttpOptions, http } from '@mcpx/transport-http/client'
import type { ServeHttpOptions } from '@mcpx/transport-http/node'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { serve } from './connections.fixture.ts'
import { createHost } from './host.fixture.ts'
import { type Fault, type FaultyProxy, type Phase, phases, startProxy } from './proxy.fixture.ts'

interface Setting {
  readonly era: Revision
  readonly serve?: ServeHttpOptions
  /** Whether a cut stream can be resumed. */
  readonly resumes: boolean
}

const settings: Record<string, Setting> = {
  'the modern era': { era: '2026-07-28', resumes: false },
  'a session': { era: '2025-11-25', resumes: true, serve: { sessions: { retry: 20 } } },
  'a session without stored events': {
    era: '2025-11-25',
    resumes: false,
    serve: { sessions: { events: false } },
  },
  'an older session': { era: '2025-06-18', resumes: true },
  'the legacy era without sessions': { era: '2025-11-25', resumes: false, serve: { sessions: false } },
}

const timers = () => getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
const sockets = () => getActiveResourcesInfo().filter((kind) => /^TCP(?:Socket|Server)Wrap$/.test(kind)).length

/** The resources before the tests, which must be reached again after them. */
const idle = { timers: timers(), sockets: sockets() }
afterAll(async () => {
  const deadline = performance.now() + 2_000
  while ((timers() > idle.timers || sockets() > idle.sockets) && performance.now() < deadline) await delay(10)
  expect({ timers: timers(), sockets: sockets() }, 'remaining resources').toEqual(idle)
})

interface ProxiedClient {
  readonly client: Client
  readonly proxy: FaultyProxy
  readonly counts: ReturnType<typeof createHost>['counts']
  readonly server: ReturnType<typeof createHost>['server']
}

async function connectThroughProxy(
  setting: Setting,
  options: HttpOptions = {},
  keepAlive = 40,
): Promise<ProxiedClient> {
  const { server, counts } = createHost()
  const { url, port } = await serve(server, { keepAlive, ...setting.serve })
  const proxy = await startProxy(port)
  const reconnect = { minDelay: 10, maxDelay: 40, attempts: 4 }
  const connector = http(url.replace(String(port), String(proxy.port)), { reconnect, ...options })
  const client = await connect(connector, { era: setting.era, timeout: 4_000 })
  onTestFinished(() => client.close())
  return { client, proxy, counts, server }
}

const json = [
  'before the headers',
  'inside the headers',
  'before the body',
  'inside the body',
  'before the last byte',
] as const
const events = [
  'before the headers',
  'before the body',
  'between events',
  'inside an event',
  'inside the last event',
  'before the last byte of the last event',
  'after the last event',
] as const

const lost = {
  name: 'ConnectionError',
  reason: 'unreachable',
  retryable: false,
  hint: 'The server may have processed the request: check before you send it again.',
}

/** A call that is answered with JSON or with an SSE stream. */
function callOn(client: Client, kind: 'json' | 'events', received: number[], timeout = 4_000) {
  if (kind === 'json') return client.callTool('echo', { text: 'marked' }, { timeout })
  const onProgress = ({ progress }: { progress: number }) => void received.push(progress)
  return client.callTool('count', { times: 4, pause: 5 }, { onProgress, timeout })
}

const markers = { json: 'marked', events: '"count"' } as const
const texts = { json: 'marked', events: `counted by ${process.pid}` } as const
const faultAt = (kind: 'json' | 'events', phase: string, action: Fault['action']): Fault => ({
  marker: markers[kind],
  phase: phases[phase as keyof typeof phases] as Phase,
  action,
})

describe.each(Object.entries(settings))('in %s, a call whose connection is cut', (_, setting) => {
  it.each(json)('%s of a JSON response fails, and the next call succeeds', async (phase) => {
    const { client, proxy, counts } = await connectThroughProxy(setting)
    proxy.arm(faultAt('json', phase, 'cut'))
    expect(await catchError(() => callOn(client, 'json', []))).toMatchObject(lost)
    expect(proxy.hasStruck()).toBe(true)
    expect(await callOn(client, 'json', [])).toMatchObject({ content: [{ text: 'marked' }] })
    expect(counts.calls).toBe(2)
  })

  it.each(events)('%s of a stream is resumed or fails, and the next call succeeds', async (phase) => {
    const { client, proxy, counts } = await connectThroughProxy(setting)
    proxy.arm(faultAt('events', phase, 'cut'))
    const received: number[] = []
    const outcome = await callOn(client, 'events', received).catch((error: unknown) => error)
    expect(proxy.hasStruck()).toBe(true)
    const canResume = setting.resumes && phase !== 'before the headers' && phase !== 'before the body'
    if (canResume || phase === 'after the last event') {
      expect(outcome).toMatchObject({ content: [{ text: texts.events }] })
      expect(received).toEqual([1, 2, 3, 4])
    } else expect(outcome).toMatchObject(lost)
    expect(await callOn(client, 'events', [])).toMatchObject({ content: [{ text: texts.events }] })
    expect(counts.calls).toBe(2)
    expect(counts.aborted > 0).toBe(setting.era === '2026-07-28' && !/last/.test(phase))
  })
})

describe.each(Object.entries(settings))('in %s, a call whose connection stops sending', (_, setting) => {
  it('before the headers times out, and the next call succeeds', async () => {
    const { client, proxy } = await connectThroughProxy(setting)
    proxy.arm(faultAt('json', 'before the headers', 'hold'))
    expect(await catchError(() => callOn(client, 'json', [], 150))).toMatchObject({
      name: 'ConnectionError',
      reason: 'timeout',
    })
    expect(await callOn(client, 'json', [])).toMatchObject({ content: [{ text: 'marked' }] })
  })

  it('inside an event counts as cut when comments are missing', async () => {
    const { client, proxy } = await connectThroughProxy(setting, { keepAlive: 200 })
    proxy.arm(faultAt('events', 'inside an event', 'hold'))
    const started = performance.now()
    const received: number[] = []
    const outcome = await callOn(client, 'events', received).catch((error: unknown) => error)
    expect(performance.now() - started).toBeLessThan(2_000)
    if (setting.resumes) expect(outcome).toMatchObject({ content: [{ text: texts.events }] })
    else expect(outcome).toMatchObject(lost)
    expect(received).toEqual(setting.resumes ? [1, 2, 3, 4] : [1, 2])
  })
})

const listening = Object.entries(settings).filter(([, setting]) => setting.serve?.sessions !== false)

describe.each(listening)('in %s, a listening client', (_, setting) => {
  it('misses no change while its connections are cut', async () => {
    const { client, proxy, server } = await connectThroughProxy(setting)
    const changes = client.listen({ toolsListChanged: true, resourceSubscriptions: ['note://watched'] })
    // `ready` resolves when the stream of the subscription is open.
    await changes.ready
    const pending = [changes.next(), changes.next()]
    proxy.cutAll()
    server.tool('meanwhile', {}, () => 'x')
    const kinds = (await Promise.all(pending)).map(({ value }) => value.kind)
    expect(kinds.sort()).toEqual(['resource', 'tools'])
    expect((await client.listTools().all()).map(({ name }) => name)).toContain('meanwhile')
    changes.close()
  })
})
