import { type Client, connect } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type OpenViewOptions, openView, type ViewPort, windowPort } from './host.ts'
import { apps, ui } from './index.ts'

const view = ui('weather', { html: '<p>Weather</p>' })
const tool = { name: 'weather', inputSchema: { type: 'object' as const } }
const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const server = createServer({ name: 'a', version: '1' }, { extensions: [apps()], onError: () => {} })
  .tool('weather', { ui: { view, visibility: ['model'] } }, () => 'It rains.')
  .tool('refresh', { ui: { visibility: ['app'] } }, () => 'The sun shines.')
  .tool('broken', {}, () => {
    throw new Error('secret')
  })

/** Opens a view whose document is the test. */
async function open(options: Partial<OpenViewOptions> = {}, era: 'modern' | 'legacy' = 'modern') {
  const client: Client = await connect(server, { era })
  const channel = new MessageChannel()
  const received: { id?: unknown; method?: string; error?: { code: number; message: string } }[] = []
  channel.port2.onmessage = ({ data }) => void received.push(data)
  const warnings: string[] = []
  const opened = openView({
    client,
    tool,
    port: channel.port1 as unknown as ViewPort,
    hostInfo: { name: 'host', version: '1' },
    closeTimeout: 50,
    onWarning: ({ message }) => void warnings.push(message),
    ...options,
  })
  closers.push(
    () => channel.port1.close(),
    () => client.close(),
  )
  const post = (message: unknown) => channel.port2.postMessage(message)
  const send = (method: string, params = {}) => post({ jsonrpc: '2.0', method, params })
  let next = 1
  const call = (method: string, params: object = {}) => {
    const id = next++
    post({ jsonrpc: '2.0', id, method, params })
    return vi.waitUntil(() => received.find((each) => each.id === id), { timeout: 2_000 })
  }
  const initialize = async () => {
    const response = await call('ui/initialize', { protocolVersion: '2026-01-26' })
    send('ui/notifications/initialized')
    await opened.ready
    return response
  }
  return { opened, received, warnings, post, send, call, initialize }
}

describe.each(['modern', 'legacy'] as const)('a view of a server in the %s era', (era) => {
  it('is initialized, and receives the input before the result', async () => {
    const { opened, received, initialize } = await open({ hostContext: { theme: 'dark' } }, era)
    opened.sendInput({ city: 'Oslo' })
    opened.sendResult({ content: [{ type: 'text', text: 'It rains.' }] })
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(received).toEqual([])
    expect(await initialize()).toMatchObject({
      result: {
        protocolVersion: '2026-01-26',
        hostInfo: { name: 'host' },
        hostCapabilities: { serverTools: {}, serverResources: {} },
        hostContext: { theme: 'dark', toolInfo: { tool } },
      },
    })
    await expect
      .poll(() => received.slice(1).map(({ method }) => method))
      .toEqual(['ui/notifications/tool-input', 'ui/notifications/tool-result'])
    expect(() => opened.sendInput({})).toThrow('the view has its input already')
    expect(() => opened.cancel()).toThrow('cancel: the view has its result already')
  })

  it('calls the tools that views may call, and reads resources', async () => {
    const { call, initialize } = await open({}, era)
    await initialize()
    expect(await call('tools/call', { name: 'refresh' })).toMatchObject({
      result: { content: [{ text: 'The sun shines.' }] },
    })
    expect(await call('tools/list')).toMatchObject({ result: { tools: [{ name: 'refresh' }, { name: 'broken' }] } })
    expect(await call('resources/read', { uri: 'ui://weather' })).toMatchObject({
      result: { contents: [{ text: '<p>Weather</p>' }] },
    })
    for (const name of ['weather', 'unknown', 'constructor', 5]) {
      expect(await call('tools/call', { name })).toMatchObject({ error: { code: -32000 } })
    }
    expect(JSON.stringify(await call('tools/call', { name: 'broken' }))).not.toContain('secret')
  })
})

describe('requests to the host', () => {
  it('are accepted by callbacks', async () => {
    const onOpenLink = vi.fn(() => true)
    const onSize = vi.fn()
    const { call, send, initialize } = await open({ onOpenLink, onSize, onDisplayMode: () => 'inline' })
    expect(await initialize()).toMatchObject({ result: { hostCapabilities: { openLinks: {} } } })
    expect(await call('ui/open-link', { url: 'https://a.example/' })).toMatchObject({ result: {} })
    await call('ui/open-link', { url: 'HTTPS://b\u0430nk.example/\u202ex?q=1 2' })
    expect(onOpenLink).toHaveBeenLastCalledWith('https://xn--bnk-6cd.example/%E2%80%AEx?q=1%202')
    expect(await call('ui/request-display-mode', { mode: 'fullscreen' })).toMatchObject({ result: { mode: 'inline' } })
    send('ui/notifications/size-changed', { width: 300, height: -1 })
    await expect.poll(() => onSize.mock.calls).toEqual([[{ width: 300 }]])
  })

  it.each<[string, object, Partial<OpenViewOptions>, number]>([
    ['ui/open-link', { url: 'https://a.example/' }, {}, -32000],
    ['ui/open-link', { url: 'https://a.example/' }, { onOpenLink: () => false }, -32000],
    ['ui/open-link', { url: 'javascript:alert(1)' }, { onOpenLink: () => true }, -32000],
    ['ui/open-link', { url: 'https://' }, { onOpenLink: () => true }, -32000],
    ['ui/open-link', {}, { onOpenLink: () => true }, -32602],
    ['ui/message', {}, { onMessage: () => Promise.reject(new Error('secret')) }, -32000],
    ['ui/update-model-context', {}, {}, -32000],
    ['ui/request-display-mode', { mode: 'fullscreen' }, {}, -32000],
    ['tools/call', { name: 'refresh', arguments: [] }, {}, -32602],
    ['sampling/createMessage', {}, {}, -32601],
    ['__proto__', {}, {}, -32601],
  ])('%s with %j is refused', async (method, params, options, code) => {
    const { call, initialize } = await open(options)
    await initialize()
    const { error } = await call(method, params)
    expect(error?.code).toBe(code)
    expect(error?.message).not.toContain('secret')
  })
})

describe('a hostile view', () => {
  it('cannot call anything before it is initialized', async () => {
    const { call } = await open({ onOpenLink: () => expect.fail('was called') })
    for (const method of ['tools/call', 'tools/list', 'resources/read', 'ui/open-link']) {
      expect(await call(method, { name: 'refresh' })).toMatchObject({ error: { code: -32000 } })
    }
  })

  it.each<[string, () => object]>([
    ['10 MB', () => ({ a: 'x'.repeat(10_000_000) })],
    ['a million items', () => ({ a: Array(1_000_000).fill(0) })],
    ['deep nesting', () => JSON.parse('[['.repeat(500) + ']]'.repeat(500))],
    ['a map', () => new Map()],
  ])('sends a request with %s, which is refused with a warning', async (_, create) => {
    const { post, call, warnings, received } = await open()
    for (const id of ['a', 'x'.repeat(2_000)]) post({ jsonrpc: '2.0', id, method: 'ping', params: create() })
    const problem = expect.stringMatching(/is no JSON-RPC, or has more than 1048576/)
    await expect.poll(() => warnings).toEqual([problem, problem])
    expect(await call('ping')).toMatchObject({ result: {} })
    expect(received).toHaveLength(2)
    expect(received[0]).toMatchObject({ id: 'a', error: { code: -32600 } })
  })

  it.each<[string, () => unknown]>([
    ['a response of 10 MB', () => ({ jsonrpc: '2.0', id: 'teardown', result: { a: 'x'.repeat(10_000_000) } })],
    [
      'a cycle',
      () => {
        const a: { a?: object } = {}
        a.a = a
        return a
      },
    ],
    ['bytes', () => new ArrayBuffer(8)],
    ['null', () => null],
  ])('sends %s, which is ignored with a warning', async (_, create) => {
    const { post, call, warnings, received } = await open()
    post(create())
    await expect.poll(() => warnings).toEqual([expect.stringMatching(/is no JSON-RPC, or has more than 1048576/)])
    expect(received).toEqual([])
    expect(await call('ping')).toMatchObject({ result: {} })
  })

  it('sends members named __proto__, which are left out', async () => {
    const onMessage = vi.fn((_: object) => true)
    const { initialize, call } = await open({ onMessage })
    await initialize()
    await call('ui/message', JSON.parse('{"role":"user","__proto__":{"polluted":true}}'))
    expect(onMessage).toHaveBeenCalledWith({ role: 'user' })
    expect(onMessage.mock.calls[0]?.[0]).not.toHaveProperty('polluted')
  })

  it('sends a flood, of which a part is answered, and the rest is refused', async () => {
    const { post, received, warnings } = await open()
    for (let id = 0; id < 5_000; id += 1) post({ jsonrpc: '2.0', id, method: 'ping' })
    post({ jsonrpc: '2.0', method: 'ui/notifications/initialized' })
    await expect.poll(() => received.length).toBe(5_000)
    const refused = received.filter(({ error }) => error?.code === -32000)
    expect(new Set(received.map(({ id }) => id)).size).toBe(5_000)
    expect(refused.length).toBeGreaterThanOrEqual(4_600)
    expect(refused[0]?.error?.message).toBe('A view sent more than 100 messages in a second')
    expect(warnings.length).toBeLessThanOrEqual(4)
  })

  it('has a limit of requests that wait', async () => {
    const { initialize, post, received } = await open({
      onMessage: () => new Promise(() => {}),
      limits: { pending: 2 },
    })
    await initialize()
    for (const id of ['a', 'b', 'b', 'c']) post({ jsonrpc: '2.0', id, method: 'ui/message' })
    await expect
      .poll(() => received.slice(1).map(({ id, error }) => [id, error?.code]))
      .toEqual([
        ['b', -32600],
        ['c', -32000],
      ])
  })
})

describe('close', () => {
  it('waits for the view, but not forever', async () => {
    const { opened, received, post, initialize, call } = await open({ closeTimeout: 2_000 })
    await initialize()
    const closed = opened.close()
    await expect.poll(() => received.at(-1)).toMatchObject({ method: 'ui/resource-teardown' })
    expect(await call('tools/list')).toMatchObject({ error: { code: -32000 } })
    post({ jsonrpc: '2.0', id: 'teardown', result: {} })
    await closed
    const silent = await open()
    await silent.initialize()
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const closing = silent.opened.close()
    await vi.advanceTimersByTimeAsync(1_000)
    await closing
  })
})

it('a window receives only the messages of its frame', () => {
  const listeners: ((event: { data: unknown; source: unknown }) => void)[] = []
  const own = {
    addEventListener: (_: string, each: (typeof listeners)[0]) => void listeners.push(each),
    removeEventListener: vi.fn(),
  }
  const frame = { postMessage: vi.fn() }
  const port = windowPort(own, () => frame)
  const onMessage = vi.fn()
  port.addEventListener('message', onMessage)
  for (const source of [{}, null, frame]) listeners[0]?.({ data: 1, source })
  port.postMessage('a')
  port.removeEventListener('message', onMessage)
  expect(onMessage).toHaveBeenCalledOnce()
  expect(frame.postMessage).toHaveBeenCalledWith('a', '*')
  expect(own.removeEventListener).toHaveBeenCalledWith('message', listeners[0])
})

it('a window with an origin receives nothing of another one, also after its frame was navigated', () => {
  const listeners: ((event: { data: unknown; source: unknown; origin?: string }) => void)[] = []
  const own = {
    addEventListener: (_: string, each: (typeof listeners)[0]) => void listeners.push(each),
    removeEventListener: () => {},
  }
  const frame = { postMessage: vi.fn() }
  const port = windowPort(own, () => frame, 'https://views.example')
  const onMessage = vi.fn()
  port.addEventListener('message', onMessage)
  for (const origin of ['https://evil.example', 'null', undefined, 'https://views.example'])
    listeners[0]?.({ data: origin, source: frame, ...(origin !== undefined && { origin }) })
  expect(onMessage.mock.calls).toEqual([[{ data: 'https://views.example' }]])
  port.postMessage('a')
  expect(frame.postMessage).toHaveBeenCalledWith('a', 'https://views.example')
})

it('unknown options are refused', () => {
  expect(() => openView({ clinet: 1 } as never)).toThrow('did you mean "client"?')
})
