import { connect } from '@mcpx/client'
import { describe, expect, it } from 'vitest'
import { createRawServer, QUESTION } from './raw-server.ts'
import { KEY, turn } from './wire.ts'

const fresh = { ttlMs: 60_000, cacheScope: 'private' }

describe('an answer that is kept', () => {
  it('is given for the same question alone [C-080]', async () => {
    const server = createRawServer({
      'resources/read': ({ uri }) => ({ contents: [{ uri, text: `${uri}` }], ...fresh }),
      'resources/list': () => ({ resources: [], ...fresh }),
      'prompts/list': () => ({ prompts: [], ...fresh }),
    })
    await using client = await connect(server)
    for (const uri of ['a:1', 'a:2', 'a:1', '__proto__']) {
      expect((await client.readResource(uri)).contents).toEqual([{ uri, text: uri }])
    }
    expect(server.asked('resources/read')).toHaveLength(3)
    await client.listResources().all()
    await client.listPrompts().all()
    await client.listResources().all()
    expect(server.asked('resources/list')).toHaveLength(1)
    await using other = await connect(server)
    await other.readResource('a:1')
    expect(server.asked('resources/read')).toHaveLength(4)
  })

  it('is none that answers to questions went into [C-076]', async () => {
    const server = createRawServer({
      'resources/read': (params) =>
        params.inputResponses === undefined
          ? { resultType: 'input_required', inputRequests: { q: QUESTION }, ...fresh }
          : { contents: [], ...fresh },
    })
    await using client = await connect(server, { onElicit: () => ({ action: 'decline' }) })
    await client.readResource('a:b')
    await client.readResource('a:b')
    expect(server.asked('resources/read')).toHaveLength(4)
  })

  it('is not asked for again before somebody wants it [C-082]', async () => {
    const server = createRawServer({ 'tools/list': () => ({ tools: [], ttlMs: 2, cacheScope: 'private' }) })
    await using client = await connect(server)
    await client.listTools().all()
    await turn(40)
    expect(server.asked('tools/list')).toHaveLength(1)
    await client.listTools().all()
    expect(server.asked('tools/list')).toHaveLength(2)
  })

  it.each([
    ['tools/list', 'tools/call', -32602],
    ['tools/list', 'tools/call', -32020],
    ['prompts/list', 'prompts/get', -32602],
    ['resources/list', 'resources/read', -32002],
    ['resources/templates/list', 'resources/read', -32602],
  ])('to %s is dropped when %s fails with %i, as if it were old [C-084]', async (list, method, code) => {
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
    expect(server.asked(list)).toHaveLength(1)
    await expect(client.request(method, { name: 'x', uri: 'a:b' })).rejects.toMatchObject({ code })
    await read()
    expect(server.asked(list)).toHaveLength(2)
  })

  it('is dropped when a change is told, templates with the resources [C-083]', async () => {
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
    const id = server.asked('subscriptions/listen')[0]?.id
    server.send({ method: 'notifications/resources/list_changed', params: { _meta: { [ID]: id } } })
    await listening.next()
    await listAll()
    const counts = ['resources/list', 'resources/templates/list', 'tools/list'].map((each) => server.asked(each).length)
    expect(counts).toEqual([2, 2, 1])
  })
})

describe('a subscription to more resources', () => {
  it('is a new stream before the old one is given up [C-096]', async () => {
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
    const [first] = server.asked('subscriptions/listen')
    expect(server.notifications).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: first?.id } },
    ])
  })
})
