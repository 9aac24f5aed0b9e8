import { createServer } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { createFullServer } from './full-server.ts'
import { closeAll, connectWire, KEY, meta, turn, type Wire } from './wire.ts'

afterEach(closeAll)

const ID = `${KEY}subscriptionId`
const everything = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['note://1'],
}

async function listen(wire: Wire, notifications: object, id: string | number = 1): Promise<void> {
  wire.send({ id, method: 'subscriptions/listen', params: { notifications, _meta: meta() } })
  await turn()
}

/** What came for one subscription. */
function heardOf(wire: Wire, id: string | number): { method?: string; params?: { notifications?: object } }[] {
  const metaOf = (message: object) => {
    const { params, result } = message as { params?: { _meta?: object }; result?: { _meta?: object } }
    return (params?._meta ?? result?._meta ?? {}) as Record<string, unknown>
  }
  return wire.heard.filter((message) => metaOf(message)[ID] === id) as never
}

function changeAll(server: ReturnType<typeof createFullServer>): void {
  server.tool('late', { replace: true }, () => '')
  server.prompt('late', { replace: true }, () => '')
  server.resource('late:1', { replace: true }, '')
  server.resourceUpdated('note://1')
  server.resourceUpdated('note://2')
}

describe('a subscription', () => {
  it('is confirmed before anything else, with what is honoured [S-070]', async () => {
    const server = createFullServer()
    const wire = connectWire(server)
    const asked = listen(wire, { ...everything, promptsListChanged: false, later: true })
    for (let n = 0; n < 5; n++) {
      server.resourceUpdated('note://1')
      await Promise.resolve()
    }
    await asked
    const [first] = heardOf(wire, 1)
    expect(first).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ['note://1'] },
      },
    })
    expect(first?.params?.notifications).not.toHaveProperty('later')
    expect(wire.heard[0]).toBe(first)
    const plain = createServer(
      { name: 's', version: '1' },
      { listTools: () => ({ tools: [] }), callTool: () => ({ content: [] }) },
    )
    const other = connectWire(plain)
    await listen(other, everything)
    expect(heardOf(other, 1).map(({ params }) => params?.notifications)).toEqual([{}])
  })

  it.each([7, 0, 'seven', '7', ''])('marks everything with its id %j, of the same type [S-071, S-075]', async (id) => {
    const server = createFullServer()
    const wire = connectWire(server)
    await listen(wire, everything, id)
    changeAll(server)
    await turn()
    server.close()
    await turn()
    expect(heardOf(wire, id)).toHaveLength(6)
    // Over a pipe the end is told twice, and that which is of no stream names the request.
    expect(wire.heard.slice(6)).toMatchObject([{ method: 'notifications/cancelled', params: { requestId: id } }])
  })

  it('is told only what it asked for, and nothing of other requests [S-072]', async () => {
    const server = createFullServer()
    const wire = connectWire(server)
    await listen(wire, { toolsListChanged: true, resourceSubscriptions: ['note://1'] })
    changeAll(server)
    await wire.ask('tools/call', { name: 'work', _meta: meta({}, { progressToken: 5 }) }, 2)
    await wire.ask('tools/call', { name: 'log', _meta: meta({}, { [`${KEY}logLevel`]: 'debug' }) }, 3)
    await turn()
    const methods = heardOf(wire, 1).map(({ method }) => method?.replace('notifications/', ''))
    expect(methods.sort()).toEqual(['resources/updated', 'subscriptions/acknowledged', 'tools/list_changed'])
  })

  it('is one of several, each with its own copy [S-073]', async () => {
    const server = createFullServer()
    const wire = connectWire(server)
    await listen(wire, { toolsListChanged: true }, 1)
    await listen(wire, { toolsListChanged: true, promptsListChanged: true }, 2)
    await listen(wire, {}, 3)
    changeAll(server)
    await turn()
    expect([1, 2, 3].map((id) => heardOf(wire, id).length)).toEqual([2, 3, 1])
  })

  it('ends with its result when the server has enough [S-074]', async () => {
    const server = createFullServer()
    const wire = connectWire(server)
    await listen(wire, everything, 'x')
    server.close()
    expect(await wire.answerTo('x')).toEqual({
      jsonrpc: '2.0',
      id: 'x',
      result: {
        resultType: 'complete',
        _meta: { [ID]: 'x', [`${KEY}serverInfo`]: { name: 'full', version: '1.0.0' } },
      },
    })
  })

  it('ends at once when the client gives it up, and holds nothing any more [S-076]', async () => {
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
    const wire = connectWire(server)
    await listen(wire, { toolsListChanged: true })
    expect(listeners).toBe(1)
    wire.send({ method: 'notifications/cancelled', params: { requestId: 1 } })
    await turn()
    const { length } = wire.heard
    await turn(10)
    expect(listeners).toBe(0)
    expect(wire.heard).toHaveLength(length)
  })

  it('tells of the resources that it names and of no others [S-077]', async () => {
    const server = createFullServer()
    const wire = connectWire(server)
    await listen(wire, { resourceSubscriptions: ['note://1'] })
    changeAll(server)
    await turn()
    expect(heardOf(wire, 1).slice(1)).toMatchObject([
      { method: 'notifications/resources/updated', params: { uri: 'note://1' } },
    ])
  })

  it('needs a filter, is idle with an empty one, and is one of so many [S-079]', async () => {
    const server = createFullServer({ limits: { listens: 1 } })
    const wire = connectWire(server)
    expect((await wire.call('subscriptions/listen')).error?.code).toBe(-32602)
    expect((await wire.call('subscriptions/listen', { notifications: 5 })).error?.code).toBe(-32602)
    await listen(wire, {}, 'idle')
    changeAll(server)
    await turn()
    expect(heardOf(wire, 'idle').map(({ params }) => params?.notifications)).toEqual([{}])
    expect((await wire.call('subscriptions/listen', { notifications: {} })).error?.message).toContain('at most 1')
    const bare = connectWire(createServer({ name: 's', version: '1' }))
    await listen(bare, everything)
    expect(heardOf(bare, 1)).toHaveLength(1)
  })

  it('is forgotten with its connection [S-080]', async () => {
    const server = createFullServer({ limits: { listens: 1 } })
    const first = connectWire(server)
    await listen(first, everything)
    await first.close()
    await turn()
    const next = connectWire(server)
    changeAll(server)
    await turn()
    expect(next.heard).toEqual([])
    await listen(next, everything)
    expect(next.told()).toEqual(['subscriptions/acknowledged'])
  })
})
