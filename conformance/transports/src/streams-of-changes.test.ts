/** Subscription streams over HTTP, where notifications of two streams may arrive out of order. */
import { connect } from '@mcpx/client'
import type { Change, JsonObject } from '@mcpx/protocol'
import { http } from '@mcpx/transport-http/client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

interface Post {
  readonly id: number
  readonly method: string
  readonly params: { readonly notifications: JsonObject }
}

/** A fake server whose streams are controlled by the test. */
function createFakeServer() {
  const streams: ReturnType<typeof createStream>[] = []
  const state = { isSilent: false, onConfirmed: () => {} }
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } }
  const discovery = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities }
  const fetch = async (_: unknown, init: RequestInit = {}) => {
    const post = JSON.parse(String(init.body)) as Post
    if (post.method !== 'subscriptions/listen') return Response.json({ jsonrpc: '2.0', id: post.id, result: discovery })
    const stream = createStream(post)
    streams.push(stream)
    init.signal?.addEventListener('abort', stream.cut)
    if (!state.isSilent) stream.confirm()
    state.onConfirmed()
    return new Response(stream.body, { headers: { 'content-type': 'text/event-stream' } })
  }
  return { streams, state, connector: http('http://127.0.0.1:9/mcp', { fetch }) }
}

function createStream({ id, params }: Post) {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const state = { isOpen: true }
  const body = new ReadableStream<Uint8Array>({
    start(streamController) {
      controller = streamController
    },
    cancel() {
      state.isOpen = false
    },
  })
  const _meta = { [SUBSCRIPTION_ID]: id }
  const write = (message: object) => {
    const text = `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
    if (state.isOpen) controller?.enqueue(new TextEncoder().encode(text))
  }
  const notify = (name: string, rest: object) => write({ method: `notifications/${name}`, params: { ...rest, _meta } })
  return {
    body,
    state,
    confirm: () => notify('subscriptions/acknowledged', { notifications: params.notifications }),
    update: (uri: string) => notify('resources/updated', { uri }),
    end() {
      write({ id, result: { resultType: 'complete', _meta } })
      if (state.isOpen) controller?.close()
      state.isOpen = false
    },
    cut() {
      if (state.isOpen) controller?.error(new TypeError('terminated'))
      state.isOpen = false
    },
  }
}

/** A client that is subscribed to `a:/1`, with its changes and warnings. */
async function connectSubscribed(timeout?: number) {
  const server = createFakeServer()
  const changes: Change[] = []
  const warnings: string[] = []
  const client = await connect(server.connector, {
    timeout,
    onChange: (change) => changes.push(change),
    onWarning: ({ message }) => warnings.push(message),
  })
  onTestFinished(() => client.close())
  await client.subscribe('a:/1')
  /** Starts a second subscription: returns the old stream, its replacement, and the promise. */
  const replace = async () => {
    server.state.isSilent = true
    const pending = client.subscribe('b:/2')
    const last = server.streams.at(-1)
    await expect.poll(() => server.streams.at(-1)).not.toBe(last)
    server.state.isSilent = false
    return { last: last as NonNullable<typeof last>, next: server.streams.at(-1) as NonNullable<typeof last>, pending }
  }
  return { ...server, client, changes, warnings, replace }
}

const update = (uri: string): Change => ({ kind: 'resource', uri })
const all = expect.arrayContaining([update('a:/1'), { kind: 'tools' }])

describe('a replaced subscription stream', () => {
  it('loses no change that arrives after the confirmation of its successor', async () => {
    const { changes, replace } = await connectSubscribed()
    const { last, next, pending } = await replace()
    next.confirm()
    await pause(20)
    last.update('a:/1')
    last.update('a:/1/late')
    await pending
    await expect.poll(() => changes).toEqual(all)
    await expect.poll(() => last.state.isOpen).toBe(false)
  })

  it('loses none of many changes that were sent before', async () => {
    const { changes, replace } = await connectSubscribed()
    const { last, next, pending } = await replace()
    const uris = Array.from({ length: 5_000 }, (_, n) => `a:/1/${n}`)
    for (const uri of uris) last.update(uri)
    next.confirm()
    await pending
    // A change names one resource. It may lie below the resource that was subscribed to.
    const reported = () => new Set(changes.map((each) => 'uri' in each && each.uri))
    await expect.poll(() => reported().has('a:/1') || uris.every((uri) => reported().has(uri))).toBe(true)
  })

  it('and its successor report each change at least once, in any order', async () => {
    const { changes, replace } = await connectSubscribed()
    const { last, next, pending } = await replace()
    next.confirm()
    await pending
    for (const each of [last, next]) each.update('a:/1')
    for (const each of [next, last]) {
      each.update('b:/2')
      await pause(50)
    }
    await expect.poll(() => last.state.isOpen).toBe(false)
    await pause(20)
    expect(changes).toEqual(expect.arrayContaining([update('a:/1'), update('b:/2')]))
  })

  it('that has ended counts everything as changed', async () => {
    const { changes, replace } = await connectSubscribed()
    const { last, next, pending } = await replace()
    next.confirm()
    await pause(20)
    last.end()
    await pending
    await expect.poll(() => changes, { timeout: 3_000 }).toEqual(all)
  })

  it('may be ended by the server as soon as the new stream is confirmed', async () => {
    const { client, streams, state } = await connectSubscribed()
    state.onConfirmed = () => void setTimeout(() => streams.at(-2)?.end(), 60)
    await client.subscribe('b:/2')
    await pause(1_000)
    const count = streams.length
    await pause(3_000)
    expect(streams.length).toBe(count)
    expect(streams.filter((each) => each.state.isOpen)).toHaveLength(1)
  })

  it('loses no late change after several replacements', async () => {
    const { client, changes, streams } = await connectSubscribed()
    const [first] = streams.slice(-1)
    for (const uri of ['b:/2', 'c:/3']) await client.subscribe(uri)
    await pause(30)
    first?.update('a:/1')
    await expect.poll(() => changes).toContainEqual(update('a:/1'))
  })

  it('that is cut before it is reopened counts everything as changed', async () => {
    const { client, changes, state, streams } = await connectSubscribed()
    state.isSilent = true
    streams.at(-1)?.cut()
    await expect.poll(() => streams.length, { timeout: 2_000 }).toBeGreaterThan(2)
    state.isSilent = false
    await client.subscribe('b:/2')
    await expect.poll(() => changes).toEqual(all)
  })

  it('is closed at once, so that few streams are open', async () => {
    const { client, streams } = await connectSubscribed()
    for (let n = 0; n < 30; n++) await client.subscribe(`c:/${n}`)
    expect(streams.filter(({ state }) => state.isOpen).length).toBeLessThanOrEqual(2)
    await expect.poll(() => streams.filter(({ state }) => state.isOpen)).toHaveLength(1)
  })
})

describe('a broken subscription stream', () => {
  it('is reopened until it is confirmed', async () => {
    const { changes, warnings, state, streams } = await connectSubscribed(150)
    state.isSilent = true
    streams.at(-1)?.cut()
    const count = streams.length
    await expect.poll(() => streams.length, { timeout: 4_000 }).toBeGreaterThan(count + 1)
    state.isSilent = false
    await expect.poll(() => changes, { timeout: 6_000 }).toEqual(all)
    expect(warnings.length).toBeLessThanOrEqual(1)
  }, 12_000)

  it('is reopened with increasing delays if each stream is cut after its confirmation', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const server = createFakeServer()
    const client = await connect(server.connector, { onChange: () => {} })
    for (let ms = 0; ms < 60_000; ms += 50) {
      await vi.advanceTimersByTimeAsync(50)
      server.streams.at(-1)?.cut()
    }
    expect(server.streams.length).toBeLessThanOrEqual(14)
    await client.close()
  })
})
