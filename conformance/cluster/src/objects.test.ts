/** Clients of instances in Durable Objects on workerd, which share their state in other Durable Objects. */

import { connect } from '@mcpx/client'
import { delay } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type RunningWorker, startWorker } from '../../../packages/store-cloudflare/src/workerd.fixture.ts'

/** The machine may be busy. */
const TIMEOUT = 60_000

describe('instances in Durable Objects', { timeout: TIMEOUT }, () => {
  let worker: RunningWorker
  beforeAll(async () => {
    worker = await startWorker(new URL('objects.fixture.ts', import.meta.url), { STORE: 'McpxStore', NODE: 'Node' })
  }, TIMEOUT)
  afterAll(() => worker?.stop())

  /** Connects a client whose requests go to one of three instances, chosen by a function. */
  async function connectBy(era: 'legacy' | 'modern', choose: () => number) {
    const seen: string[] = []
    const refused: number[] = []
    const open = new Set<AbortController>()
    const balanced = async (input: string | URL | Request, init: RequestInit = {}) => {
      const url = new URL(input instanceof Request ? input.url : input)
      const instance = choose()
      seen.push(`${init.method ?? 'GET'} ${instance}`)
      const cut = new AbortController()
      open.add(cut)
      const signal = init.signal ? AbortSignal.any([init.signal, cut.signal]) : cut.signal
      const response = await fetch(`http://127.0.0.1:${worker.port}/${instance}${url.pathname}`, { ...init, signal })
      if (!response.ok) refused.push(response.status)
      return response
    }
    const client = await connect(http('http://instances.test/mcp', { fetch: balanced, reconnect: { minDelay: 50 } }), {
      era,
      timeout: 20_000,
      onElicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
    })
    onTestFinished(() => client.close())
    const cutAll = () => {
      for (const each of open) each.abort()
      open.clear()
    }
    const call = async (name: string, args = {}, options = {}) => {
      const { content } = await client.callTool(name, args, options)
      return (content as { text?: string }[])[0]?.text
    }
    return { client, call, seen, refused, cutAll }
  }

  function inTurn(): () => number {
    let count = 0
    return () => count++ % 3
  }

  describe.each(['legacy', 'modern'] as const)('%s era', (era) => {
    it('reach all of them by plain calls', async () => {
      const { call } = await connectBy(era, inTurn())
      const instances = new Set<unknown>()
      for (let n = 0; n < 6; n++) instances.add(await call('who'))
      expect(instances.size).toBe(3)
    })

    it('answer an input request at another instance', async () => {
      const { call, seen, refused } = await connectBy(era, inTurn())
      for (let n = 0; n < 4; n++) {
        seen.length = 0
        expect(await call('ask')).toMatch(/^accept Ada received by /)
        expect(new Set(seen.filter((each) => each.startsWith('POST'))).size).toBeGreaterThan(1)
      }
      // The client sends a refused answer again until it reaches the instance that waits for the answer.
      expect(refused).toEqual([])
    })

    it('answer many input requests at once', async () => {
      const { call } = await connectBy(era, inTurn())
      const texts = await Promise.all(Array.from({ length: 12 }, () => call('ask')))
      for (const text of texts) expect(text).toMatch(/^accept Ada received by /)
    })
  })

  it('run a task to its end, with clients at all of them', async () => {
    const { client, call } = await connectBy('modern', inTurn())
    expect(await call('ship')).toMatch(/^charged by (\S+), shipped to Ada by \1$/)
    const handles = await Promise.all(Array.from({ length: 5 }, () => client.callTool('ship', {}, { task: 'handle' })))
    for (const { content } of await Promise.all(handles.map((handle) => handle.result()))) {
      expect(content).toEqual([{ type: 'text', text: expect.stringMatching(/shipped to Ada/) }])
    }
  })

  it('continue a task whose instance was aborted, after its finished step', async () => {
    let instance = 0
    const { client } = await connectBy('modern', () => instance)
    const handle = await client.callTool('ship', {}, { task: 'handle' })
    const charged = async () => (await handle.status()).statusMessage
    await expect.poll(charged, { timeout: 10_000 }).toMatch(/^charged by /)
    const first = await charged()
    instance = 1
    await fetch(`http://127.0.0.1:${worker.port}/0/abort`).catch(() => {})
    const { content } = await handle.result()
    const [{ text = '' } = {}] = content as { text?: string }[]
    const [, by, shippedBy] = /^charged by (\S+), shipped to Ada by (\S+)$/.exec(text) ?? []
    expect(`charged by ${by}`).toBe(first)
    expect(shippedBy).not.toBe(by)
  })

  it('resume a stream that was cut at another instance', async () => {
    let instance = 0
    const { call, cutAll, seen } = await connectBy('legacy', () => instance)
    const received: number[] = []
    const onProgress = ({ progress }: { progress: number }) => void received.push(progress)
    const counting = call('count', { times: 30, pause: 30 }, { onProgress })
    while (received.length < 3) await delay(5)
    instance = 1
    cutAll()
    expect(await counting).toBe('counted')
    expect(received).toEqual(Array.from({ length: 30 }, (_, n) => n + 1))
    expect(seen).toContain('GET 1')
  })
})
