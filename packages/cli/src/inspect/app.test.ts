/** The HTTP interface of the page, without a browser. */

import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Connector } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { describe, expect, it } from 'vitest'
import type { InspectEvent } from './api.ts'
import { inspect } from './inspect.fixture.ts'
import { startInspector } from './serve.ts'
import { createShop } from './shop.fixture.ts'

interface Reply {
  readonly status: number | undefined
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: string
}

/** Sends a request with any headers, also those that `fetch` does not allow. */
async function send(url: string, headers: Record<string, string> = {}, body?: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: body === undefined ? 'GET' : 'POST', headers }, async (response) =>
      resolve({ status: response.statusCode, headers: response.headers, body: await text(response) }),
    )
    sent.once('error', reject)
    sent.end(body)
  })
}

/** Reads events until one is found. */
async function readUntil<Found extends InspectEvent>(
  url: string,
  isFound: (event: InspectEvent) => event is Found,
  run: () => Promise<unknown> = async () => {},
): Promise<{ events: InspectEvent[]; found: Found }> {
  const response = await fetch(`${url}events`)
  const events: InspectEvent[] = []
  let rest = ''
  let hasRun = false
  for await (const chunk of response.body ?? []) {
    rest += new TextDecoder().decode(chunk)
    const parts = rest.split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      if (!part.startsWith('data: ')) continue
      const event = JSON.parse(part.slice(6)) as InspectEvent
      events.push(event)
      if (!isFound(event)) continue
      return { events, found: event }
    }
    if (!hasRun) {
      hasRun = true
      await run()
    }
  }
  throw new Error(`The stream has ended: ${JSON.stringify(events)}`)
}

type EventOf<Type extends InspectEvent['type']> = Extract<InspectEvent, { type: Type }>
const isResult = (event: InspectEvent): event is EventOf<'result' | 'error'> =>
  event.type === 'result' || event.type === 'error'
const isSettled = (event: InspectEvent): event is EventOf<'state' | 'hello'> =>
  (event.type === 'state' || event.type === 'hello') && event.state.status !== 'connecting'

async function callPage(url: string, method: string, params: object) {
  const body = JSON.stringify({ id: 'c1', method, params })
  const origin = new URL(url).origin
  const { found } = await readUntil(url, isResult, () => send(`${url}calls`, { origin }, body))
  return found
}

describe('the guard', () => {
  it('lets a browser in once by another address than the one with the token', async () => {
    const { url, entryUrl } = await inspect(createShop())
    const enter = (headers = {}) => send(entryUrl, headers)
    expect((await enter({ host: 'evil.example' })).status).toBe(421)
    expect((await enter({ origin: 'https://evil.example' })).status).toBe(403)
    expect((await send(`${entryUrl}/events`.replace(/.{8}\/events$/, 'AAAAAAAA'))).status).toBe(404)
    const entered = await enter()
    expect([entered.status, entered.headers.location]).toEqual([303, new URL(url).pathname])
    expect((await enter()).status).toBe(404)
    expect((await send(url)).status).not.toBe(404)
  })

  it('refuses requests without the token, of other hosts, and of other pages', async () => {
    const { url } = await inspect(createShop())
    const { origin } = new URL(url)
    const body = JSON.stringify({ id: 'c1', method: 'ping', params: {} })
    expect((await send(`${url}events`, { host: 'evil.example' })).status).toBe(421)
    expect((await send(url, { host: 'localhost' })).status).toBe(421)
    for (const path of ['', 'x', `${'x'.repeat(43)}/`, '../../etc/passwd'])
      expect((await send(`${origin}/${path}`)).status).toBe(404)
    expect((await send(`${url}calls`, { origin: 'https://evil.example' }, body)).status).toBe(403)
    expect((await send(`${url}calls`, {}, body)).status).toBe(403)
    expect((await send(`${url}messages/1`, { origin: 'null' })).status).toBe(403)
    expect(
      (await send(`${url}messages/1`, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).status,
    ).toBe(403)
    expect((await send(`${url}calls`, { origin }, body)).status).toBe(202)
  })

  it('sends a strict policy with each response', async () => {
    const { url } = await inspect(createShop())
    for (const address of [url, `${url}nothing`, new URL(url).origin]) {
      const { headers } = await send(address)
      const policy = String(headers['content-security-policy'])
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).toContain("require-trusted-types-for 'script'")
      expect(policy).not.toContain('unsafe')
      expect(headers).toMatchObject({
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      })
    }
  })

  it('serves only the files of the page', async () => {
    const { url } = await inspect(createShop())
    for (const file of ['page.mjs.map', '..%2f..%2fpackage.json', 'constructor'])
      expect((await send(`${url}${file}`)).status).toBe(404)
  })

  it.each([
    ['no JSON', 'body'],
    ['[]', 'body'],
    ['{"id":1}', 'id'],
    ['{"id":"a","method":"toString","params":{}}', 'method'],
    ['{"id":"a","method":"ping","params":[]}', 'params'],
  ])('refuses the call %s', async (body, place) => {
    const { url } = await inspect(createShop())
    const reply = await send(`${url}calls`, { origin: new URL(url).origin }, body)
    expect(reply.status).toBe(400)
    expect(reply.body).toContain(place)
  })
})

describe('the calls of the page', () => {
  it('return results and explained errors', async () => {
    const { url } = await inspect(createShop())
    await readUntil(url, isSettled)
    expect(await callPage(url, 'listTools', {})).toMatchObject({ type: 'result', result: { isCut: false } })
    expect(await callPage(url, 'readResource', { uri: 'shop://nothing' })).toMatchObject({
      type: 'error',
      error: { title: 'Invalid parameters', code: -32602, meaning: expect.any(String), remedy: expect.any(String) },
    })
    expect(await callPage(url, 'setRoots', { roots: [{ uri: 'https://example.com' }] })).toMatchObject({
      error: { message: expect.stringContaining('file://') },
    })
  })

  it('log each message with its direction and time, and long ones without their body', async () => {
    const { url, inspection } = await inspect(createShop())
    await readUntil(url, isSettled)
    await callPage(url, 'callTool', { name: 'search', args: { q: 'x'.repeat(50_000) } })
    const [sent, received] = inspection.log.messages.slice(-2)
    expect(sent).toMatchObject({ direction: 'out', kind: 'request', title: 'tools/call', detail: 'search' })
    expect(sent?.body).toBeUndefined()
    expect(received).toMatchObject({ direction: 'in', kind: 'response', title: 'tools/call', id: sent?.id })
    expect(received?.duration).toBeGreaterThan(0)
    const { body } = await send(`${url}messages/${sent?.number}`)
    expect(JSON.parse(body)).toMatchObject({ params: { name: 'search' } })
    expect((await send(`${url}messages/999999`)).status).toBe(404)
    await callPage(url, 'clearLog', {})
    expect(inspection.log.messages).toEqual([])
  })

  it('leave messages out while the page does not read, and send the whole log afterwards', async () => {
    const { url, inspection } = await inspect(createShop())
    await readUntil(url, isSettled)
    inspection.log.clear()
    const isLog = (event: InspectEvent): event is EventOf<'log'> => event.type === 'log'
    const { events, found } = await readUntil(url, isLog, async () => {
      for (let count = 1; count <= 30_000; count++) inspection.log.addEvent('warning', `${count}`)
    })
    const sent = events.filter(({ type }) => type === 'message').length
    expect(sent).toBeGreaterThan(1_000)
    expect(sent).toBeLessThan(30_000)
    expect(found.messages).toHaveLength(2_000)
    expect(found.messages.at(-1)?.detail).toBe('30000')
  })

  it('keep the newest progress of a call while the page does not read', async () => {
    const COUNT = 40_000
    const server = createServer({ name: 'flood', version: '1.0.0' }).tool('flood', {}, async (_, ctx) => {
      for (let step = 1; step <= COUNT; step++) await ctx.progress(step, COUNT)
      return 'done'
    })
    const { url, inspection } = await inspect(server)
    await readUntil(url, isSettled)
    const isLog = (event: InspectEvent): event is EventOf<'log'> => event.type === 'log'
    const { events } = await readUntil(url, isLog, async () => {
      const call = { id: 'c1', method: 'callTool', params: { name: 'flood', args: {} } }
      await send(`${url}calls`, { origin: new URL(url).origin }, JSON.stringify(call))
      const isDone = () =>
        inspection.log.messages.some(({ kind, title }) => kind === 'response' && title === 'tools/call')
      await expect.poll(isDone, { timeout: 20_000 }).toBe(true)
    })
    const steps = events.flatMap((event) => (event.type === 'progress' ? [event.progress ?? 0] : []))
    expect(steps.length).toBeGreaterThan(100)
    expect(steps.length).toBeLessThan(COUNT)
    expect(steps.at(-1)).toBe(COUNT)
    expect(steps).toEqual([...steps].sort((one, other) => one - other))
  }, 30_000)

  it('explain why there is no connection, and connect again', async () => {
    let isUp = false
    const shop = createShop()
    const { memoryConnector } = await import('@mcpx/protocol/memory')
    const { ConnectionError } = await import('@mcpx/protocol')
    const connector: Connector = {
      connect: (options) => {
        if (isUp) return memoryConnector(shop).connect(options)
        throw new ConnectionError('unreachable', 'nobody listens')
      },
    }
    const { url } = await inspect(connector)
    const { found } = await readUntil(url, isSettled)
    expect(found.state).toMatchObject({
      status: 'failed',
      error: { title: 'Server unreachable', message: 'nobody listens' },
    })
    expect(await callPage(url, 'listTools', {})).toMatchObject({
      error: { message: 'There is no connection to the server' },
    })
    isUp = true
    await callPage(url, 'connect', {})
    const again = await readUntil(url, isSettled)
    expect(again.found.state.status).toBe('connected')
  })
})

it('serves the document of a view on another origin, in a sandbox, and nothing else', async () => {
  const { url } = await inspect(createShop())
  await readUntil(url, isSettled)
  const tools = (await callPage(url, 'listTools', {})) as { result: { items: { name: string }[] } }
  const tool = tools.result.items.find(({ name }) => name === 'show_order')
  const { result } = (await callPage(url, 'openView', { tool })) as { result: { url: string } }
  const view = new URL(result.url)
  expect(view.origin).not.toBe(new URL(url).origin)
  const { status, headers, body } = await send(view.href)
  expect(status).toBe(200)
  expect(body).toContain('<h1>Loading</h1>')
  const policy = String(headers['content-security-policy'])
  expect(policy).toContain("connect-src 'none'")
  expect(policy).toContain(`frame-ancestors ${new URL(url).origin}`)
  expect(policy).toContain('sandbox allow-scripts allow-forms')
  expect((await send(`${view.origin}/`)).status).toBe(404)
  expect((await send(view.href, { host: 'evil.example' })).status).toBe(404)
  expect((await send(view.href, {}, 'x')).status).toBe(404)
  const plain = tools.result.items.find(({ name }) => name === 'search')
  expect(await callPage(url, 'openView', { tool: plain })).toMatchObject({
    error: { title: 'View cannot be displayed' },
  })
})

describe('startInspector', () => {
  it('refuses a port that is in use', async () => {
    const { url } = await inspect(createShop())
    const { port } = new URL(url)
    await expect(
      startInspector({
        label: '',
        source: { kind: 'stdin' },
        connector: createShop(),
        connect: () => Promise.reject(),
        port: Number(port),
      }),
    ).rejects.toThrow(`--port: 127.0.0.1:${port} cannot be used: EADDRINUSE`)
  })
})
