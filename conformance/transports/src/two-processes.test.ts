/** One endpoint of two processes with shared stores: requests reach either process, and one may be killed. */

import { type Client, connect } from '@mcpx/client'
import { catchError, delay } from '@mcpx/testing'
import { type HttpOptions, http } from '@mcpx/transport-http/client'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Host, killHosts, startHost } from './hosts.fixture.ts'
import { phases, startProxy } from './proxy.fixture.ts'
import { serveStores } from './stores.fixture.ts'

/** The processes of the tests that do not kill one. */
let shared: [Host, Host]
let hosts: [Host, Host]

async function startTwo(): Promise<[Host, Host]> {
  const stores = await serveStores()
  closers.push(stores.close)
  const options = { stores: stores.port, serve: { sessions: { retry: 50 } } }
  return Promise.all([startHost(options), startHost(options)])
}

const closers: (() => void)[] = []
afterAll(() => {
  killHosts()
  for (const close of closers) close()
})
beforeAll(async () => {
  shared = await startTwo()
})
beforeEach(() => {
  hosts = shared
})

type Fetch = NonNullable<HttpOptions['fetch']>

/** A `fetch` that alternates between the living processes. */
function createBalancer() {
  const dead = new Set<Host>()
  const seen: string[] = []
  let count = 0
  /** The process that receives all requests, if set. */
  let only: Host | undefined
  const balanced: Fetch = (input, init) => {
    const living = hosts.filter((host) => !dead.has(host))
    const host = only ?? living[count++ % living.length]
    seen.push(`${init?.method} ${hosts.indexOf(host as Host)}`)
    return fetch(new URL(new URL(String(input)).pathname, host?.url), init)
  }
  return {
    fetch: balanced,
    seen,
    pin(host: Host | undefined) {
      only = host
    },
    async kill(host: Host) {
      dead.add(host)
      if (only === host) only = undefined
      await host.kill()
    },
  }
}

async function connectBalanced(
  era: 'legacy' | 'modern',
  options: Parameters<typeof connect>[1] = {},
  delays: object = {},
) {
  const balance = createBalancer()
  const reconnect = { minDelay: 20, maxDelay: 100, attempts: 4, ...delays }
  const client = await connect(http(hosts[0].url, { fetch: balance.fetch, reconnect }), {
    era,
    timeout: 8_000,
    ...options,
  })
  onTestFinished(() => client.close())
  return { client, balance }
}

const textOf = async (call: ReturnType<Client['callTool']>) => ((await call).content[0] as { text: string }).text

describe.each(['legacy', 'modern'] as const)('in the %s era', (era) => {
  it('calls reach both processes', async () => {
    const { client } = await connectBalanced(era)
    const pids = new Set<string>()
    for (let n = 0; n < 10; n++) pids.add(await textOf(client.callTool('who')))
    expect(pids).toEqual(new Set(hosts.map(({ pid }) => String(pid))))
  })

  it('the answer of an input request may reach the other process', async () => {
    const { client, balance } = await connectBalanced(era, {
      onElicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
    })
    for (const host of hosts) {
      balance.seen.length = 0
      expect(await textOf(client.callTool('ask'))).toMatch(/^accept received by /)
      expect(new Set(balance.seen)).toEqual(new Set(['POST 0', 'POST 1']))
      if (host === hosts[0]) await client.callTool('who')
    }
  })

  it('a cancellation that reaches the other process aborts the call', async () => {
    const { client, balance } = await connectBalanced(era)
    balance.pin(hosts[1])
    const before = await hosts[1].look()
    const controller = new AbortController()
    const call = catchError(() => client.callTool('never', {}, { signal: controller.signal }))
    while ((await hosts[1].look()).calls === before.calls) await delay(5)
    balance.pin(hosts[0])
    controller.abort()
    expect(await call).toMatchObject({ reason: 'cancelled' })
    while ((await hosts[1].look()).aborted === before.aborted) await delay(10)
  })

  it('changes are sent once to each client, by the process that they listen at', async () => {
    const clients = await Promise.all([0, 1, 0, 1].map(async (at) => listenAt(era, hosts[at] as Host)))
    for (const [n, host] of hosts.entries()) {
      const { client, balance } = await connectBalanced('modern')
      balance.pin(host)
      await client.callTool('touch')
      await client.callTool('grow')
      for (const { heard } of clients) await waitUntil(() => heard.length >= 2 * (n + 1))
    }
    await delay(100)
    const expected = ['resource', 'tools', 'resource', 'tools']
    for (const { heard } of clients) expect(heard).toEqual(expected)
  })

  it('a call fails with its killed process, and later calls reach the other process', async () => {
    hosts = await startTwo()
    const { client, balance } = await connectBalanced(era)
    balance.pin(hosts[0])
    const received: number[] = []
    const onProgress = ({ progress }: { progress: number }) => void received.push(progress)
    const lost = catchError(() => client.callTool('count', { times: 1_000, pause: 10 }, { onProgress }))
    while (received.length < 5) await delay(5)
    const started = performance.now()
    await balance.kill(hosts[0])
    const after = textOf(client.callTool('who'))
    expect(await after).toBe(String(hosts[1].pid))
    expect(await lost).toMatchObject({ name: 'ConnectionError', reason: 'unreachable', retryable: false })
    expect(performance.now() - started).toBeLessThan(4_000)
    expect(received).toEqual(received.map((_, index) => index + 1))
    expect(await textOf(client.callTool('who'))).toBe(String(hosts[1].pid))
  })
})

describe('a session', () => {
  it('resumes a stream at the other process [S-138]', async () => {
    const proxy = await startProxy(hosts[0].port)
    const { client, balance } = await connectBalanced('legacy')
    balance.pin({ ...hosts[0], url: `http://127.0.0.1:${proxy.port}/mcp` })
    const received: number[] = []
    const before = balance.seen.length
    const call = textOf(
      client.callTool(
        'count',
        { times: 20, pause: 20 },
        { onProgress: ({ progress }) => void received.push(progress) },
      ),
    )
    while (received.length < 3) await delay(5)
    balance.pin(hosts[1])
    proxy.cutAll()
    expect(await call).toBe(`counted by ${hosts[0].pid}`)
    expect(received).toEqual(Array.from({ length: 20 }, (_, n) => n + 1))
    expect(balance.seen.slice(before)).toContain('GET 1')
  })

  it('receives a stored response from the other process after the first one was killed', async () => {
    hosts = await startTwo()
    const proxy = await startProxy(hosts[0].port)
    const { client, balance } = await connectBalanced('legacy', {}, { minDelay: 400, maxDelay: 400 })
    balance.pin({ ...hosts[0], url: `http://127.0.0.1:${proxy.port}/mcp` })
    proxy.arm({ marker: '"count"', phase: phases['between events'], action: 'cut' })
    const call = textOf(client.callTool('count', { times: 6, pause: 5 }, { onProgress: () => {} }))
    while (!proxy.hasStruck()) await delay(5)
    await delay(150)
    balance.pin(hosts[1])
    await balance.kill(hosts[0])
    expect(await call).toBe(`counted by ${hosts[0].pid}`)
  })

  it('receives changes from the remaining process', async () => {
    hosts = await startTwo()
    const { client, balance } = await connectBalanced('legacy')
    const listening = client.listen({ toolsListChanged: true })
    await listening.ready
    await waitUntil(() => balance.seen.some((each) => each.startsWith('GET')))
    const host = hosts[Number(balance.seen.find((each) => each.startsWith('GET'))?.at(-1))] as Host
    balance.seen.length = 0
    await balance.kill(host)
    // Changes of the killed process may be lost, so everything counts as changed.
    expect((await listening.next()).value).toEqual({ kind: 'tools' })
    await client.callTool('grow')
    expect((await listening.next()).value).toEqual({ kind: 'tools' })
    listening.close()
  })
})

/** Connects a client that receives the changes of one process, and sends all other requests to it as well. */
async function listenAt(era: 'legacy' | 'modern', host: Host) {
  const { client, balance } = await connectBalanced(era)
  balance.pin(host)
  const listening = client.listen({ toolsListChanged: true, resourceSubscriptions: ['note://watched'] })
  await listening.ready
  // In the legacy era, the stream opens after the subscriptions.
  if (era === 'legacy') await waitUntil(() => balance.seen.some((each) => each.startsWith('GET')))
  await delay(50)
  const heard: string[] = []
  void (async () => {
    for await (const { kind } of listening) heard.push(kind)
  })()
  onTestFinished(() => void listening.close())
  return { heard }
}

async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5)
}
