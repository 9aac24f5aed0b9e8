import { connect } from '@mcpx/client'
import type { JsonObject } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { KEY, turn } from './raw-client.ts'
import { createRawServer, INPUT_REQUEST } from './raw-server.ts'

const tokenOf = ({ params }: { params?: JsonObject | undefined }) =>
  (params?._meta as JsonObject | undefined)?.progressToken
const ID = `${KEY}subscriptionId`

describe('progress', () => {
  it('has a unique token for each request and each retry [C-100, C-079]', async () => {
    const server = createRawServer({
      'tools/call': async (params) => {
        await turn(5)
        return params.inputResponses === undefined
          ? { resultType: 'input_required', inputRequests: { q: INPUT_REQUEST } }
          : { content: [] }
      },
    })
    await using client = await connect(server, { onElicit: () => ({ action: 'decline' }) })
    const onProgress = () => {}
    await Promise.all(Array.from({ length: 20 }, () => client.callTool('t', {}, { onProgress })))
    // Progress restarts the timeout also of a call that has no callback for it.
    await client.callTool('t')
    const tokens = server.requestsOf('tools/call').map(tokenOf)
    expect(tokens).toHaveLength(42)
    expect(new Set(tokens).size).toBe(42)
    for (const token of tokens) expect(typeof token === 'string' || Number.isInteger(token)).toBe(true)
  })
})

describe('a request that takes too long', () => {
  it('is cancelled, and a late response is ignored [C-101, C-102, C-032]', async () => {
    const server = createRawServer()
    await using client = await connect(server)
    await expect(client.callTool('t', {}, { timeout: 20 })).rejects.toMatchObject({ reason: 'timeout' })
    await turn()
    const [request] = server.requestsOf('tools/call')
    expect(server.notifications).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: request?.id } },
    ])
    server.send({ id: request?.id, result: { resultType: 'complete', content: [] } })
    await turn()
    server.send({ id: request?.id, result: { resultType: 'complete', content: [] } })
    await turn()
    expect(server.connections).toBe(1)
    expect(server.responses).toEqual([])
  })

  it('gets more time by progress, up to maxTimeout [C-101]', async () => {
    const server = createRawServer()
    await using client = await connect(server)
    const begun = performance.now()
    const call = client.callTool('t', {}, { timeout: 40, maxTimeout: 150, onProgress: () => {} })
    let progress = 0
    const timer = setInterval(() => {
      const progressToken = tokenOf(server.requestsOf('tools/call')[0] ?? { params: { _meta: {} } })
      server.send({ method: 'notifications/progress', params: { progressToken, progress: ++progress } })
    }, 15)
    await expect(call).rejects.toMatchObject({ reason: 'timeout' })
    clearInterval(timer)
    expect(performance.now() - begun).toBeGreaterThan(120)
  })
})

describe('pages', () => {
  it('are requested with the unchanged cursor, also an empty one, until there is none [C-103]', async () => {
    const cursors = ['', ' {"a":1}é', '0', 'x'.repeat(5_000)]
    let page = 0
    const server = createRawServer({
      'tools/list': () => {
        const nextCursor = cursors[page++]
        return { tools: [], ...(nextCursor !== undefined && { nextCursor }) }
      },
    })
    await using client = await connect(server)
    await client.listTools().all()
    expect(server.requestsOf('tools/list').map(({ params }) => params?.cursor)).toEqual([undefined, ...cursors])
  })
})

describe('the definition of a tool', () => {
  it('is not trusted: a call is not repeated because of its annotations [C-106]', async () => {
    const annotations = { readOnlyHint: true, idempotentHint: true, destructiveHint: false }
    const tool = { name: 't', inputSchema: { type: 'object' }, annotations }
    const server = createRawServer({ 'tools/list': () => ({ tools: [tool] }) })
    await using client = await connect(server)
    expect(await client.listTools().all()).toEqual([tool])
    const call = client.callTool('t')
    await turn()
    await server.cut()
    await expect(call).rejects.toMatchObject({ name: 'ConnectionError' })
    await turn(20)
    expect(server.requestsOf('tools/call')).toHaveLength(1)
  })

  it('keeps all keywords of its schema [C-108]', async () => {
    const inputSchema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { a: { $anchor: 'a', type: 'string' } },
      properties: { a: { $ref: '#a' }, b: { oneOf: [{ const: 1 }, { const: 2 }] } },
      if: { required: ['a'] },
      // biome-ignore lint/suspicious/noThenProperty: it is a keyword
      then: { required: ['b'] },
      else: false,
      'x-own': [null],
    }
    const server = createRawServer({ 'tools/list': () => ({ tools: [{ name: 't', inputSchema }] }) })
    await using client = await connect(server)
    expect(await client.listTools().all()).toEqual([{ name: 't', inputSchema }])
  })
})

describe('completion', () => {
  it('sends the other arguments [C-104]', async () => {
    const server = createRawServer({ 'completion/complete': () => ({ completion: { values: ['x'] } }) })
    await using client = await connect(server)
    const params = {
      ref: { type: 'ref/prompt' as const, name: 'p' },
      argument: { name: 'b', value: 'x' },
      context: { arguments: { a: '1' } },
    }
    await client.complete(params)
    expect(server.requestsOf('completion/complete')[0]?.params).toMatchObject(params)
  })
})

describe('subscriptions', () => {
  function createSubscriptionServer() {
    const server = createRawServer({
      'subscriptions/listen': ({ notifications }, { id }) => {
        server.send({
          method: 'notifications/subscriptions/acknowledged',
          params: { notifications, _meta: { [ID]: id } },
        })
        return undefined
      },
    })
    const notify = (id: unknown, method: string, params = {}) =>
      server.send({ method: `notifications/${method}`, params: { ...params, _meta: { [ID]: id } } })
    return { server, notify }
  }

  it('have a filter and are distinguished by their id [C-090, C-092, C-031]', async () => {
    const { server, notify } = createSubscriptionServer()
    await using client = await connect(server)
    const tools = client.listen({ toolsListChanged: true })
    const notes = client.listen({ resourceSubscriptions: ['note://1'] })
    await Promise.all([tools.ready, notes.ready])
    const [first, second] = server.requestsOf('subscriptions/listen')
    expect(first?.params?.notifications).toEqual({ toolsListChanged: true })
    expect(second?.params?.notifications).toEqual({ resourceSubscriptions: ['note://1'] })
    notify('nobody', 'resources/updated', { uri: 'note://1' })
    notify(second?.id, 'resources/updated', { uri: 'note://1' })
    notify(first?.id, 'tools/list_changed')
    expect((await tools.next()).value).toEqual({ kind: 'tools' })
    expect((await notes.next()).value).toEqual({ kind: 'resource', uri: 'note://1' })
  })

  it('stay open longer than the timeout of calls [C-095]', async () => {
    const { server, notify } = createSubscriptionServer()
    await using client = await connect(server, { timeout: 20, maxTimeout: 30 })
    const listening = client.listen({ toolsListChanged: true })
    await listening.ready
    await turn(60)
    expect(server.notifications).toEqual([])
    notify(server.requestsOf('subscriptions/listen')[0]?.id, 'tools/list_changed')
    expect((await listening.next()).value).toEqual({ kind: 'tools' })
  })
})
