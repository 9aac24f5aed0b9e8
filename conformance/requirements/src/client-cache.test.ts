import { connect } from '@mcpx/client'
import { describe, expect, it } from 'vitest'
import { KEY, turn } from './raw-client.ts'
import { createRawServer, INPUT_REQUEST } from './raw-server.ts'

const fresh = { ttlMs: 60_000, cacheScope: 'private' }

describe('a cached result', () => {
  it('is used only for the same request [C-080]', async () => {
    const server = createRawServer({
      'resources/read': ({ uri }) => ({ contents: [{ uri, text: `${uri}` }], ...fresh }),
      'resources/list': () => ({ resources: [], ...fresh }),
      'prompts/list': () => ({ prompts: [], ...fresh }),
    })
    await using client = await connect(server)
    for (const uri of ['a:1', 'a:2', 'a:1', '__proto__']) {
      expect((await client.readResource(uri)).contents).toEqual([{ uri, text: uri }])
    }
    expect(server.requestsOf('resources/read')).toHaveLength(3)
    await client.listResources().all()
    await client.listPrompts().all()
    await client.listResources().all()
    expect(server.requestsOf('resources/list')).toHaveLength(1)
    await using other = await connect(server)
    await other.readResource('a:1')
    expect(server.requestsOf('resources/read')).toHaveLength(4)
  })

  it('does not come from a request with input responses [C-076]', async () => {
    const server = createRawServer({
      'resources/read': (params) =>
        params.inputResponses === undefined
          ? { resultType: 'input_required', inputRequests: { q: INPUT_REQUEST }, ...fresh }
          : { contents: [], ...fresh },
    })
    await using client = await connect(server, { onElicit: () => ({ action: 'decline' }) })
    await client.readResource('a:b')
    await client.readResource('a:b')
    expect(server.requestsOf('resources/read')).toHaveLength(4)
  })

  it('is not refreshed before it is used [C-082]', async () => {
    const server = createRawServer({ 'tools/list': () => ({ tools: [], ttlMs: 2, cacheScope: 'private' }) })
    await using client = await connect(server)
    await client.listTools().all()
    await turn(40)
    expect(server.requestsOf('tools/list')).toHaveLength(1)
    await client.listTools().all()
    expect(server.requestsOf('tools/list')).toHaveLength(2)
  })

  it.each([
    ['tools/list', 'tools/call', -32602],
    ['tools/list', 'tools/call', -32020],
    ['prompts/list', 'prompts/get', -32602],
    ['resources/list', 'resources/read', -32002],
    ['resources/templates/list', 'resources/read', -32602],
  ])('of %s is dropped when %s fails with %i [C-084]', async (list, method, code) => {
    const members = { tools: [], prompts: [], resources: [], resourceTemplates: [] }
    const server = createRawServer({
      [list]: () => ({ ...members, ...fresh }),
      [method]: ({ name }) => ({ code: name === 'other' ? -32603 : code, message: 'no' }),
    })
    await using client = await connect(server)
    const read = () => client.request(list)
    await read()
    await expect(client.request(method, { name: 'other', uri: 'a:b' })).rejects.toMatchObject({ code: -32603 })
    await read()
    expect(server.requestsOf(list)).toHaveLength(1)
    await expect(client.request(method, { name: 'x', uri: 'a:b' })).rejects.toMatchObject({ code })
    await read()
    expect(server.requestsOf(list)).toHaveLength(2)
  })

  it('is dropped when a change arrives, templates together with resources [C-083]', async () => {
    const ID = `${KEY}subscriptionId`
    const server = createRawServer({
      'resources/list': () => ({ resources: [], ...fresh }),
      'resources/templates/list': () => ({ resourceTemplates: [], ...fresh }),
      'tools/list': () => ({ tools: [], ...fresh }),
      'subscriptions/listen': ({ notifications }, { id }) => {
        const _meta = { [ID]: id }
        server.send({ method: 'notifications/subscriptions/acknowledged', params: { notifications, _meta } })
        return undefined
      },
    })
    await using client = await connect(server)
    const listening = client.listen({ resourcesListChanged: true })
    await listening.ready
    const listAll = async () => {
      await client.listResources().all()
      await client.listResourceTemplates().all()
      await client.listTools().all()
    }
    await listAll()
    await listAll()
    const id = server.requestsOf('subscriptions/listen')[0]?.id
    server.send({ method: 'notifications/resources/list_changed', params: { _meta: { [ID]: id } } })
    await listening.next()
    await listAll()
    const counts = ['resources/list', 'resources/templates/list', 'tools/list'].map(
      (each) => server.requestsOf(each).length,
    )
    expect(counts).toEqual([2, 2, 1])
  })
})

describe('a subscription to more resources', () => {
  it('opens a new stream before it closes the old one [C-096]', async () => {
    const order: string[] = []
    const server = createRawServer({
      'subscriptions/listen': ({ notifications }, { id }) => {
        order.push(`listen ${(notifications as { resourceSubscriptions: string[] }).resourceSubscriptions}`)
        const _meta = { [`${KEY}subscriptionId`]: id }
        server.send({ method: 'notifications/subscriptions/acknowledged', params: { notifications, _meta } })
        return undefined
      },
    })
    await using client = await connect(server)
    await client.subscribe('a:1')
    await client.subscribe('a:2')
    await turn(5)
    expect(order).toEqual(['listen a:1', 'listen a:1,a:2'])
    const [first] = server.requestsOf('subscriptions/listen')
    expect(server.notifications).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: first?.id } },
    ])
  })
})
