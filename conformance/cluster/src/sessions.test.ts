/** Checks that known faults of other shared session stores do not occur. */

import { delay } from '@mcpx/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Cluster, hasRedis, startCluster } from './cluster.fixture.ts'
import { QUOTED } from './node.fixture.ts'

/** The machine may be busy. */
const TIMEOUT = 60_000
const SESSION_TTL = 3_000

describe.skipIf(!hasRedis)('sessions of three nodes', { timeout: TIMEOUT }, () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startCluster({ sessionTtl: SESSION_TTL, keepAlive: 500 })
  }, TIMEOUT)
  afterAll(() => cluster?.close(), TIMEOUT)

  /** Sends a request of a session to one node. */
  function send(node: number, session: string | undefined, init: RequestInit = {}): Promise<Response> {
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(session !== undefined && { 'mcp-session-id': session }),
    }
    return fetch(`http://127.0.0.1:${cluster.nodes[node]?.port}/mcp`, { headers, ...init })
  }

  const post = (node: number, session: string | undefined, method: string, params: object = {}) =>
    send(node, session, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: method, method, params }) })

  const callWho = async (node: number, session: string) =>
    (await post(node, session, 'tools/call', { name: 'who' })).status

  async function open(node: number): Promise<string> {
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    return (await post(node, undefined, 'initialize', params)).headers.get('mcp-session-id') as string
  }

  /** Opens the GET stream, and collects its text. */
  async function listen(node: number, session: string): Promise<{ text: string }> {
    const stop = new AbortController()
    onTestFinished(() => stop.abort())
    const response = await send(node, session, { signal: stop.signal })
    expect(response.status).toBe(200)
    const received = { text: '' }
    const read = async () => {
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) received.text += chunk
    }
    void read().catch(() => {})
    return received
  }

  it('stay alive while their streams are open, however many there are, and end without them', async () => {
    const sessions = await Promise.all(Array.from({ length: 30 }, (_, n) => open(n % 3)))
    const kept = sessions.slice(0, 20)
    for (const [index, session] of kept.entries()) await listen(index % 3, session)
    await delay(SESSION_TTL * 2)
    const statuses = await Promise.all(sessions.map((session, index) => callWho((index + 1) % 3, session)))
    expect(statuses).toEqual(sessions.map((session) => (kept.includes(session) ? 200 : 404)))
  })

  it('receive changes on a stream at another node than the one that opened them', async () => {
    const session = await open(0)
    await post(1, session, 'resources/subscribe', { uri: 'note://1' })
    const received = await listen(2, session)
    for (const node of [0, 1, 2]) {
      received.text = ''
      await post(node, session, 'tools/call', { name: 'touch', arguments: { uri: 'note://1' } })
      await expect.poll(() => received.text.match(/"note:\/\/1"/g)).toHaveLength(1)
    }
  })

  it('receive changes of a resource whose URI needs escapes in strings', async () => {
    const session = await open(0)
    await post(0, session, 'resources/subscribe', { uri: QUOTED })
    const received = await listen(1, session)
    await post(2, session, 'tools/call', { name: 'touch', arguments: { uri: QUOTED } })
    await expect.poll(() => received.text).toContain(`"params":${JSON.stringify({ uri: QUOTED })}`)
  })

  it('have the log level that was set at another node, also on an open stream and in running calls', async () => {
    const session = await open(0)
    const logAt = async (node: number) => {
      const response = await post(node, session, 'tools/call', { name: 'log', arguments: { text: 'loud' } })
      return (await response.text()).includes('"data":"loud"')
    }
    expect(await logAt(2)).toBe(true)
    const running = post(1, session, 'tools/call', { name: 'log', arguments: { text: 'late', after: 500 } })
    await delay(100)
    await post(0, session, 'logging/setLevel', { level: 'emergency' })
    expect(await (await running).text()).not.toContain('"data":"late"')
    for (const node of [0, 1, 2]) expect(await logAt(node)).toBe(false)
    await post(2, session, 'logging/setLevel', { level: 'debug' })
    for (const node of [0, 1, 2]) expect(await logAt(node)).toBe(true)
  })

  it('that are unknown or have ended are refused with 404, by POST and GET, at every node', async () => {
    const session = await open(0)
    expect((await send(1, session, { method: 'DELETE' })).status).toBe(204)
    for (const node of [0, 1, 2]) {
      for (const id of [session, crypto.randomUUID()]) {
        const stream = await send(node, id)
        expect([stream.status, stream.headers.get('mcp-session-id')]).toEqual([404, null])
        expect(await callWho(node, id)).toBe(404)
      }
    }
  })

  it('number the events of messages that two nodes send at once', async () => {
    const session = await open(0)
    const texts = await Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        const args = { name: 'count', arguments: { times: 20 }, _meta: { progressToken: n } }
        const body = JSON.stringify({ jsonrpc: '2.0', id: n, method: 'tools/call', params: args })
        return (await send(n % 3, session, { method: 'POST', body })).text()
      }),
    )
    const ids = texts.flatMap((text) => [...text.matchAll(/^id: (.+)$/gm)].map(([, id]) => id))
    expect(ids).toHaveLength(12 * 22)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
