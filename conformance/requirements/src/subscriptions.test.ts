import { createServer } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { createFullServer } from './full-server.ts'
import { closeAll, connectRawClient, KEY, meta, type RawClient, turn } from './raw-client.ts'

afterEach(closeAll)

const ID = `${KEY}subscriptionId`
const everything = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['note://1'],
}

async function listen(client: RawClient, notifications: object, id: string | number = 1): Promise<void> {
  client.send({ id, method: 'subscriptions/listen', params: { notifications, _meta: meta() } })
  await turn()
}

/** Returns the messages of one subscription. */
function messagesOf(
  client: RawClient,
  id: string | number,
): { method?: string; params?: { notifications?: object } }[] {
  const metaOf = (message: object) => {
    const { params, result } = message as { params?: { _meta?: object }; result?: { _meta?: object } }
    return (params?._meta ?? result?._meta ?? {}) as Record<string, unknown>
  }
  return client.received.filter((message) => metaOf(message)[ID] === id) as never
}

function changeAll(server: ReturnType<typeof createFullServer>): void {
  server.tool('late', { replace: true }, () => '')
  server.prompt('late', { replace: true }, () => '')
  server.resource('late:1', { replace: true }, '')
  server.resourceUpdated('note://1')
  server.resourceUpdated('note://2')
}

describe('a subscription', () => {
  it('is acknowledged first, with the accepted filter [S-070]', async () => {
    const server = createFullServer()
    const client = connectRawClient(server)
    const requestsOf = listen(client, { ...everything, promptsListChanged: false, later: true })
    for (let n = 0; n < 5; n++) {
      server.resourceUpdated('note://1')
      await Promise.resolve()
    }
    await requestsOf
    const [first] = messagesOf(client, 1)
    expect(first).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ['note://1'] },
      },
    })
    expect(first?.params?.notifications).not.toHaveProperty('later')
    expect(client.received[0]).toBe(first)
    const plain = createServer(
      { name: 's', version: '1' },
      { listTools: () => ({ tools: [] }), callTool: () => ({ content: [] }) },
    )
    const other = connectRawClient(plain)
    await listen(other, everything)
    expect(messagesOf(other, 1).map(({ params }) => params?.notifications)).toEqual([{}])
  })

  it.each([7, 0, 'seven', '7', ''])('has its id %j in every message, with the same type [S-071, S-075]', async (id) => {
    const server = createFullServer()
    const client = connectRawClient(server)
    await listen(client, everything, id)
    changeAll(server)
    await turn()
    server.close()
    await turn()
    expect(messagesOf(client, id)).toHaveLength(6)
    // Over stdio the end is also sent as a cancellation of the request.
    expect(client.received.slice(6)).toMatchObject([{ method: 'notifications/cancelled', params: { requestId: id } }])
  })

  it('receives only its own changes, and no messages of other requests [S-072]', async () => {
    const server = createFullServer()
    const client = connectRawClient(server)
    await listen(client, { toolsListChanged: true, resourceSubscriptions: ['note://1'] })
    changeAll(server)
    await client.ask('tools/call', { name: 'work', _meta: meta({}, { progressToken: 5 }) }, 2)
    await client.ask('tools/call', { name: 'log', _meta: meta({}, { [`${KEY}logLevel`]: 'debug' }) }, 3)
    await turn()
    const methods = messagesOf(client, 1).map(({ method }) => method?.replace('notifications/', ''))
    expect(methods.sort()).toEqual(['resources/updated', 'subscriptions/acknowledged', 'tools/list_changed'])
  })

  it('may be one of several, which all receive changes [S-073]', async () => {
    const server = createFullServer()
    const client = connectRawClient(server)
    await listen(client, { toolsListChanged: true }, 1)
    await listen(client, { toolsListChanged: true, promptsListChanged: true }, 2)
    await listen(client, {}, 3)
    changeAll(server)
    await turn()
    expect([1, 2, 3].map((id) => messagesOf(client, id).length)).toEqual([2, 3, 1])
  })

  it('ends with its result when the server closes [S-074]', async () => {
    const server = createFullServer()
    const client = connectRawClient(server)
    await listen(client, everything, 'x')
    server.close()
    expect(await client.responseTo('x')).toEqual({
      jsonrpc: '2.0',
      id: 'x',
      result: {
        resultType: 'complete',
        _meta: { [ID]: 'x', [`${KEY}serverInfo`]: { name: 'full', version: '1.0.0' } },
      },
    })
  })

  it('ends when the client cancels it, and removes its listener [S-076]', async () => {
    let listeners = 0
    const server = createServer(
      { name: 's', version: '1' },
      {
        listTools: () => ({ tools: [] }),
        callTool: () => ({ content: [] }),
        changes(listener) {
          listeners += 1
          const timer = setInterval(() => listener({ kind: 'tools' }), 1)
          return () => {
            listeners -= 1
            clearInterval(timer)
          }
        },
      },
    )
    const client = connectRawClient(server)
    await listen(client, { toolsListChanged: true })
    expect(listeners).toBe(1)
    client.send({ method: 'notifications/cancelled', params: { requestId: 1 } })
    await turn()
    const { length } = client.received
    await turn(10)
    expect(listeners).toBe(0)
    expect(client.received).toHaveLength(length)
  })

  it('receives updates of its own resources only [S-077]', async () => {
    const server = createFullServer()
    const client = connectRawClient(server)
    await listen(client, { resourceSubscriptions: ['note://1'] })
    changeAll(server)
    await turn()
    expect(messagesOf(client, 1).slice(1)).toMatchObject([
      { method: 'notifications/resources/updated', params: { uri: 'note://1' } },
    ])
  })

  it('needs a filter, which may be empty, and counts against the limit [S-079]', async () => {
    const server = createFullServer({ limits: { listens: 1 } })
    const client = connectRawClient(server)
    expect((await client.call('subscriptions/listen')).error?.code).toBe(-32602)
    expect((await client.call('subscriptions/listen', { notifications: 5 })).error?.code).toBe(-32602)
    await listen(client, {}, 'idle')
    changeAll(server)
    await turn()
    expect(messagesOf(client, 'idle').map(({ params }) => params?.notifications)).toEqual([{}])
    expect((await client.call('subscriptions/listen', { notifications: {} })).error?.message).toContain('at most 1')
    const bare = connectRawClient(createServer({ name: 's', version: '1' }))
    await listen(bare, everything)
    expect(messagesOf(bare, 1)).toHaveLength(1)
  })

  it('ends with its connection [S-080]', async () => {
    const server = createFullServer({ limits: { listens: 1 } })
    const first = connectRawClient(server)
    await listen(first, everything)
    await first.close()
    await turn()
    const next = connectRawClient(server)
    changeAll(server)
    await turn()
    expect(next.received).toEqual([])
    await listen(next, everything)
    expect(next.notificationMethods()).toEqual(['subscriptions/acknowledged'])
  })
})
