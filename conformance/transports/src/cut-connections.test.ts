/** Connections that break at each phase of a call: it ends with its result, or with an error that says what was lost. */

import { getActiveResourcesInfo } from 'node:process'
import { type Client, connect } from '@mcpx/client'
import type { Revision } from '@mcpx/protocol'
import { caught, delay } from '@mcpx/testing'
import { type HttpOptions, http } from '@mcpx/transport-http/client'
import type { ServeHttpOptions } from '@mcpx/transport-http/node'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { serve } from './carriers.fixture.ts'
import { createHost } from './host.fixture.ts'
import { type Fault, type FaultyProxy, type Phase, phases, startProxy } from './proxy.fixture.ts'

interface Setting {
  readonly era: Revision
  readonly serve?: ServeHttpOptions
  /** Whether a lost stream can be had again. */
  readonly resumes: boolean
}

const settings: Record<string, Setting> = {
  'the modern era': { era: '2026-07-28', resumes: false },
  'a session': { era: '2025-11-25', resumes: true, serve: { sessions: { retry: 20 } } },
  'a session of which no events are kept': {
    era: '2025-11-25',
    resumes: false,
    serve: { sessions: { events: false } },
  },
  'an older session': { era: '2025-06-18', resumes: false },
  'the legacy era without sessions': { era: '2025-11-25', resumes: false, serve: { sessions: false } },
}

const timers = () => getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
const sockets = () => getActiveResourcesInfo().filter((kind) => /^TCP(?:Socket|Server)Wrap$/.test(kind)).length

/** What all comes back to when what was opened is closed. */
const idle = { timers: timers(), sockets: sockets() }
afterAll(async () => {
  const deadline = performance.now() + 2_000
  while ((timers() > idle.timers || sockets() > idle.sockets) && performance.now() < deadline) await delay(10)
  expect({ timers: timers(), sockets: sockets() }, 'what is left').toEqual(idle)
})

interface Reached {
  readonly client: Client
  readonly proxy: FaultyProxy
  readonly counts: ReturnType<typeof createHost>['counts']
  readonly server: ReturnType<typeof createHost>['server']
}

async function reach(setting: Setting, options: HttpOptions = {}, keepAlive = 40): Promise<Reached> {
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

/** A call whose answer is JSON, or a stream of events. */
function callOn(client: Client, kind: 'json' | 'events', heard: number[], timeout = 4_000) {
  if (kind === 'json') return client.callTool('echo', { text: 'marked' }, { timeout })
  const onProgress = ({ progress }: { progress: number }) => void heard.push(progress)
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
  it.each(json)('%s of JSON is lost, and the next one is answered', async (phase) => {
    const { client, proxy, counts } = await reach(setting)
    proxy.arm(faultAt('json', phase, 'cut'))
    expect(await caught(() => callOn(client, 'json', []))).toMatchObject(lost)
    expect(proxy.hasStruck()).toBe(true)
    expect(await callOn(client, 'json', [])).toMatchObject({ content: [{ text: 'marked' }] })
    expect(counts.calls).toBe(2)
  })

  it.each(events)('%s of a stream ends as one can expect, and the next one is answered', async (phase) => {
    const { client, proxy, counts } = await reach(setting)
    proxy.arm(faultAt('events', phase, 'cut'))
    const heard: number[] = []
    const outcome = await callOn(client, 'events', heard).catch((error: unknown) => error)
    expect(proxy.hasStruck()).toBe(true)
    const canResume = setting.resumes && phase !== 'before the headers' && phase !== 'before the body'
    if (canResume || phase === 'after the last event') {
      expect(outcome).toMatchObject({ content: [{ text: texts.events }] })
      expect(heard).toEqual([1, 2, 3, 4])
    } else expect(outcome).toMatchObject(lost)
    expect(await callOn(client, 'events', [])).toMatchObject({ content: [{ text: texts.events }] })
    expect(counts.calls).toBe(2)
    expect(counts.aborted > 0).toBe(setting.era === '2026-07-28' && !/last/.test(phase))
  })
})

describe.each(Object.entries(settings))('in %s, a call whose connection goes silent', (_, setting) => {
  it('before the headers is given up in time, and the next one is answered', async () => {
    const { client, proxy } = await reach(setting)
    proxy.arm(faultAt('json', 'before the headers', 'hold'))
    expect(await caught(() => callOn(client, 'json', [], 150))).toMatchObject({
      name: 'ConnectionError',
      reason: 'timeout',
    })
    expect(await callOn(client, 'json', [])).toMatchObject({ content: [{ text: 'marked' }] })
  })

  it('inside an event is taken for cut as soon as comments are missing', async () => {
    const { client, proxy } = await reach(setting, { keepAlive: 200 })
    proxy.arm(faultAt('events', 'inside an event', 'hold'))
    const started = performance.now()
    const heard: number[] = []
    const outcome = await callOn(client, 'events', heard).catch((error: unknown) => error)
    expect(performance.now() - started).toBeLessThan(2_000)
    if (setting.resumes) expect(outcome).toMatchObject({ content: [{ text: texts.events }] })
    else expect(outcome).toMatchObject(lost)
    expect(heard).toEqual(setting.resumes ? [1, 2, 3, 4] : [1, 2])
  })
})

const listening = Object.entries(settings).filter(([, setting]) => setting.serve?.sessions !== false)

describe.each(listening)('in %s, a client that listens', (_, setting) => {
  it('misses nothing that changes while its connections are cut, and goes on', async () => {
    const { client, proxy, server } = await reach(setting)
    const changes = client.listen({ toolsListChanged: true, resourceSubscriptions: ['note://watched'] })
    // A resource is subscribed to when the stream is there that tells of it.
    await changes.ready
    const told = [changes.next(), changes.next()]
    proxy.cutAll()
    server.tool('meanwhile', {}, () => 'x')
    const kinds = (await Promise.all(told)).map(({ value }) => value.kind)
    expect(kinds.sort()).toEqual(['resource', 'tools'])
    expect((await client.listTools().all()).map(({ name }) => name)).toContain('meanwhile')
    changes.close()
  })
})
