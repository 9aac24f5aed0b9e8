/** One endpoint of two processes that share their stores: requests come to either, and one may die. */

import { type Client, connect } from '@mcpx/client'
import { caught, delay } from '@mcpx/testing'
import { type HttpOptions, http } from '@mcpx/transport-http/client'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { endHosts, type Host, startHost } from './hosts.fixture.ts'
import { phases, startProxy } from './proxy.fixture.ts'
import { keepStores } from './stores.fixture.ts'

/** Those of the tests in which none of them dies. */
let shared: [Host, Host]
let hosts: [Host, Host]

async function startTwo(): Promise<[Host, Host]> {
  const stores = await keepStores()
  closers.push(stores.close)
  const options = { stores: stores.port, serve: { sessions: { retry: 50 } } }
  return Promise.all([startHost(options), startHost(options)])
}

const closers: (() => void)[] = []
afterAll(() => {
  endHosts()
  for (const close of closers) close()
})
beforeAll(async () => {
  shared = await startTwo()
})
beforeEach(() => {
  hosts = shared
})

type Fetch = NonNullable<HttpOptions['fetch']>

/** Sends each request to another process than the one before, as long as there are two. */
function balancer() {
  const dead = new Set<Host>()
  const seen: string[] = []
  let turn = 0
  /** Set to have all requests come to one process. */
  let only: Host | undefined
  const balanced: Fetch = (input, init) => {
    const living = hosts.filter((host) => !dead.has(host))
    const host = only ?? living[turn++ % living.length]
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

async function reach(era: 'legacy' | 'modern', options: Parameters<typeof connect>[1] = {}, waits: object = {}) {
  const balance = balancer()
  const reconnect = { minDelay: 20, maxDelay: 100, attempts: 4, ...waits }
  const client = await connect(http(hosts[0].url, { fetch: balance.fetch, reconnect }), {
    era,
    timeout: 8_000,
    ...options,
  })
  onTestFinished(() => client.close())
  return { client, balance }
}

const said = async (call: ReturnType<Client['callTool']>) => ((await call).content[0] as { text: string }).text

describe.each(['legacy', 'modern'] as const)('in the %s era', (era) => {
  it('calls come to both processes', async () => {
    const { client } = await reach(era)
    const pids = new Set<string>()
    for (let n = 0; n < 10; n++) pids.add(await said(client.callTool('who')))
    expect(pids).toEqual(new Set(hosts.map(({ pid }) => String(pid))))
  })

  it('a question is answered to the process that did not ask it', async () => {
    const { client, balance } = await reach(era, { onElicit: () => ({ action: 'accept', content: { name: 'Ada' } }) })
    for (const host of hosts) {
      balance.seen.length = 0
      expect(await said(client.callTool('ask'))).toMatch(/^accept heard by /)
      expect(new Set(balance.seen)).toEqual(new Set(['POST 0', 'POST 1']))
      if (host === hosts[0]) await client.callTool('who')
    }
  })

  it('a call is given up in the process where it runs', async () => {
    const { client, balance } = await reach(era)
    balance.pin(hosts[1])
    const before = await hosts[1].look()
    const controller = new AbortController()
    const call = caught(() => client.callTool('never', {}, { signal: controller.signal }))
    while ((await hosts[1].look()).calls === before.calls) await delay(5)
    balance.pin(hosts[0])
    controller.abort()
    expect(await call).toMatchObject({ reason: 'cancelled' })
    while ((await hosts[1].look()).aborted === before.aborted) await delay(10)
  })

  it('a call is lost with its process, and says so; the next ones are answered by the other', async () => {
    hosts = await startTwo()
    const { client, balance } = await reach(era)
    balance.pin(hosts[0])
    const heard: number[] = []
    const onProgress = ({ progress }: { progress: number }) => void heard.push(progress)
    const lost = caught(() => client.callTool('count', { times: 1_000, pause: 10 }, { onProgress }))
    while (heard.length < 5) await delay(5)
    const started = performance.now()
    await balance.kill(hosts[0])
    const after = said(client.callTool('who'))
    expect(await after).toBe(String(hosts[1].pid))
    expect(await lost).toMatchObject({ name: 'ConnectionError', reason: 'unreachable', retryable: false })
    expect(performance.now() - started).toBeLessThan(4_000)
    expect(heard).toEqual(heard.map((_, index) => index + 1))
    expect(await said(client.callTool('who'))).toBe(String(hosts[1].pid))
  })
})

describe('a session', () => {
  it('has the rest of a stream, and the answer at its end, from the other process [S-138]', async () => {
    const proxy = await startProxy(hosts[0].port)
    const { client, balance } = await reach('legacy')
    balance.pin({ ...hosts[0], url: `http://127.0.0.1:${proxy.port}/mcp` })
    const heard: number[] = []
    const before = balance.seen.length
    const call = said(
      client.callTool('count', { times: 20, pause: 20 }, { onProgress: ({ progress }) => void heard.push(progress) }),
    )
    while (heard.length < 3) await delay(5)
    balance.pin(hosts[1])
    proxy.cutAll()
    expect(await call).toBe(`counted by ${hosts[0].pid}`)
    expect(heard).toEqual(Array.from({ length: 20 }, (_, n) => n + 1))
    expect(balance.seen.slice(before)).toContain('GET 1')
  })

  it('has the answer from the other process also when the one that gave it is gone', async () => {
    hosts = await startTwo()
    const proxy = await startProxy(hosts[0].port)
    const { client, balance } = await reach('legacy', {}, { minDelay: 400, maxDelay: 400 })
    balance.pin({ ...hosts[0], url: `http://127.0.0.1:${proxy.port}/mcp` })
    proxy.arm({ marker: '"count"', phase: phases['between events'], action: 'cut' })
    const call = said(client.callTool('count', { times: 6, pause: 5 }, { onProgress: () => {} }))
    while (!proxy.hasStruck()) await delay(5)
    await delay(150)
    balance.pin(hosts[1])
    await balance.kill(hosts[0])
    expect(await call).toBe(`counted by ${hosts[0].pid}`)
  })

  it('hears of changes from the process that is left', async () => {
    hosts = await startTwo()
    const { client, balance } = await reach('legacy')
    const listening = client.listen({ toolsListChanged: true })
    await listening.ready
    await until(() => balance.seen.some((each) => each.startsWith('GET')))
    const host = hosts[Number(balance.seen.find((each) => each.startsWith('GET'))?.at(-1))] as Host
    balance.seen.length = 0
    await balance.kill(host)
    // What the process that went did not come to tell counts as told.
    expect((await listening.next()).value).toEqual({ kind: 'tools' })
    await client.callTool('grow')
    expect((await listening.next()).value).toEqual({ kind: 'tools' })
    listening.close()
  })
})

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await delay(5)
}
