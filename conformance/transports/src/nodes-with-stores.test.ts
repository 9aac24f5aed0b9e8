/** Two server processes with one store in Redis, or in a SQLite file: a writer dies, changes over HTTP+SSE, and the end. */

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@mcpx/client'
import { catchError, delay } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { hasRedis, type RedisServer, startRedis } from '../../../packages/store-redis/src/redis.fixture.ts'
import { type Host, killHosts, startHost } from './hosts.fixture.ts'
import type { StoreSettings } from './store-process.fixture.ts'

/** The machine may be busy. */
const TIMEOUT = 60_000
const folder = mkdtempSync(join(tmpdir(), 'nodes-with-stores-'))
let redis: RedisServer | undefined
let count = 0
beforeAll(async () => {
  if (hasRedis) redis = await startRedis()
})
afterAll(async () => {
  killHosts()
  await redis?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Returns the settings of an empty store. */
const storeBy: Readonly<Record<string, () => StoreSettings>> = {
  '@redis/client': () => ({
    kind: 'redis',
    library: '@redis/client',
    port: redis?.port as number,
    prefix: `${count++}:`,
  }),
  ioredis: () => ({ kind: 'redis', library: 'ioredis', port: redis?.port as number, prefix: `${count++}:` }),
  SQLite: () => ({ kind: 'sqlite', file: join(folder, `${count++}.db`) }),
}

const kinds = Object.keys(storeBy).filter((kind) => hasRedis || kind === 'SQLite')

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

function post({ url }: Pick<Host, 'url'>, message: object, session?: string): Promise<Response> {
  const headers = session === undefined ? HEADERS : { ...HEADERS, 'mcp-session-id': session }
  return fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) })
}

/** Reads a stream, and collects its text until it ends or breaks. */
function read(response: Response) {
  const stream = { text: '', hasEnded: false, methods: () => [''] }
  stream.methods = () =>
    [...stream.text.matchAll(/"method":"notifications\/([^"]+)"/g)].map(([, method]) => method as string)
  const reading = async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) stream.text += chunk
  }
  void reading()
    .catch(() => {})
    .finally(() => {
      stream.hasEnded = true
    })
  return stream
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5)
}

describe.each(kinds)('two processes with a store over %s', { timeout: TIMEOUT }, (kind) => {
  async function startTwo(): Promise<[Host, Host]> {
    const store = storeBy[kind]?.() as StoreSettings
    const start = () => startHost({ store, serve: { sse: '/sse', sessions: { retry: 50 } } })
    return Promise.all([start(), start()])
  }

  it('name the loss of a killed writer to the reader at the other process, and keep its session', async () => {
    const [writer, other] = await startTwo()
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    const opened = await post(writer, { id: 1, method: 'initialize', params })
    const session = opened.headers.get('mcp-session-id') as string
    await post(writer, { method: 'notifications/initialized' }, session)
    const args = { name: 'count', arguments: { times: 10_000, pause: 20 }, _meta: { progressToken: 'p' } }
    const call = read(await post(writer, { id: 2, method: 'tools/call', params: args }, session))
    await until(() => call.methods().length > 2)
    const lastEventId = (text: string) => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? ''
    const resume = (id: string) =>
      fetch(other.url, { headers: { ...HEADERS, 'mcp-session-id': session, 'last-event-id': id } })
    const followed = read(await resume(lastEventId(call.text)))
    await until(() => followed.methods().length > 2)
    await writer.kill()
    await until(() => followed.hasEnded)
    const refused = await resume(lastEventId(followed.text))
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      error: { message: 'The process that served this stream has ended; send the request again if that is safe' },
    })
    const next = await post(other, { id: 3, method: 'tools/call', params: { name: 'who' } }, session)
    expect([next.status, await next.text()]).toEqual([200, expect.stringContaining(`"${other.pid}"`)])
  })

  it.each(['legacy', 'modern'] as const)('tell a client of the %s era whether it may repeat the call', async (era) => {
    const hosts = await startTwo()
    let target: Host = hosts[0]
    const methods: string[] = []
    const client = await connect(
      http(hosts[0].url, {
        fetch(_input, init) {
          const [, method] = /"method":"([^"]+)"/.exec(String(init?.body ?? '')) ?? []
          if (method !== undefined) methods.push(method)
          return fetch(target.url, init)
        },
        reconnect: { minDelay: 20, maxDelay: 100, attempts: 4 },
      }),
      { era, timeout: 20_000 },
    )
    onTestFinished(() => client.close())
    let received = 0
    const onProgress = () => void received++
    const lost = catchError(() => client.callTool('count', { times: 10_000, pause: 20 }, { onProgress }))
    await until(() => received > 2)
    target = hosts[1]
    await hosts[0].kill()
    expect(await lost).toMatchObject({ name: 'ConnectionError', reason: 'unreachable', retryable: false })
    const { content } = await client.callTool('who')
    expect(content).toEqual([{ type: 'text', text: String(hosts[1].pid) }])
    // The session lives on.
    expect(methods.filter((method) => method === 'initialize')).toHaveLength(era === 'legacy' ? 1 : 0)
  })

  it('send changes over HTTP+SSE once, whichever process they happen at', async () => {
    const hosts = await startTwo()
    const streams = await Promise.all([...hosts, ...hosts].map(subscribeOverSse))
    for (const [n, host] of hosts.entries()) {
      for (const name of ['touch', 'grow']) await callOnce(host, name)
      for (const stream of streams) await until(() => stream.methods().length >= 2 * (n + 1))
    }
    await delay(300)
    const expected = ['resources/updated', 'tools/list_changed', 'resources/updated', 'tools/list_changed']
    for (const stream of streams) expect(stream.methods()).toEqual(expected)
  })

  it('end by themselves when their server and store are closed', async () => {
    const hosts = await startTwo()
    const stream = await subscribeOverSse(hosts[0])
    const client = await connect(http(hosts[1].url), { era: 'modern' })
    onTestFinished(() => client.close())
    const listening = client.listen({ toolsListChanged: true })
    await listening.ready
    await callOnce(hosts[0], 'grow')
    await until(() => stream.methods().length > 0)
    for (const { child } of hosts) {
      const exited = once(child, 'exit')
      child.send('close')
      expect(await Promise.race([exited, delay(5_000)])).toEqual([0, null])
    }
    listening.close()
  })
})

/** Opens a connection of revision 2024-11-05 that subscribes to a resource. */
async function subscribeOverSse(host: Host) {
  const base = new URL('/sse', host.url)
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const stream = read(await fetch(base, { headers: { accept: 'text/event-stream' }, signal: stop.signal }))
  await until(() => stream.text.includes('\n\n'))
  const [, path = ''] = /data: (\S+)/.exec(stream.text) ?? []
  const url = String(new URL(path, base))
  const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  await post({ url }, { id: 1, method: 'initialize', params })
  await until(() => stream.text.includes('"id":1'))
  await post({ url }, { method: 'notifications/initialized' })
  await post({ url }, { id: 2, method: 'resources/subscribe', params: { uri: 'note://watched' } })
  await until(() => stream.text.includes('"id":2'))
  return stream
}

/** Calls a tool in a session of its own. */
async function callOnce(host: Host, tool: string): Promise<void> {
  const client = await connect(http(host.url), { era: 'modern' })
  await client.callTool(tool)
  await client.close()
}
