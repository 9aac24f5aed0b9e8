import { type Change, RpcError } from '@mcpx/protocol'
import { describe, expect, it, vi } from 'vitest'
import { modernServer } from '../test/listened-server.ts'
import { connectorTo } from '../test/scripted-server.ts'
import { connect } from './connect.ts'
import { proxy } from './proxy.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const LISTS = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }
const update = (uri: string): Change => ({ kind: 'resource', uri })

/** A client that has subscribed to `a:/1`, and the changes that it reports. */
async function subscribe(timeout?: number) {
  const fixture = modernServer()
  const { server, open } = fixture
  const heard: Change[] = []
  const problems: string[] = []
  const client = await connect(server, {
    timeout,
    onChange: (change) => heard.push(change),
    onWarning: ({ message }) => problems.push(message),
  })
  await client.subscribe('a:/1')
  await expect.poll(() => open.size).toBe(1)
  /** Ends the open streams. */
  const end = () => {
    const ended = [...open.values()]
    open.clear()
    for (const each of ended) each.end()
  }
  /** Starts an operation that the server confirms later. */
  const begin = async (change: () => Promise<void>) => {
    let confirm = () => {}
    fixture.hold(new Promise<void>((resolve) => (confirm = resolve)))
    const done = change()
    await pause(20)
    return { confirm, done }
  }
  const close = () => client.close()
  return { ...fixture, client, heard, problems, end, begin, [Symbol.asyncDispose]: close }
}

describe('a client with onChange', () => {
  it('opens a new stream when the server has ended one, and counts everything as changed [C-093]', async () => {
    await using rig = await subscribe()
    const { server, heard, tell } = rig
    rig.end()
    const all = expect.arrayContaining([update('a:/1'), { kind: 'tools' }])
    await expect.poll(() => heard, { timeout: 3_000 }).toEqual(all)
    heard.length = 0
    tell('resources/updated', { uri: 'a:/1' })
    await expect.poll(() => heard).toEqual([update('a:/1')])
    expect(server.asked('subscriptions/listen').length).toBeLessThanOrEqual(3)
    expect(rig.problems).toEqual([])
  })

  it('counts everything as changed when it subscribes before the new stream is open', async () => {
    await using rig = await subscribe()
    rig.end()
    await pause(20)
    await rig.client.subscribe('b:/2')
    expect(rig.open.size).toBe(1)
    await expect.poll(() => rig.heard).toEqual(expect.arrayContaining([update('a:/1'), { kind: 'tools' }]))
  })

  it('counts everything as changed when the stream ends before the next one is confirmed', async () => {
    await using rig = await subscribe()
    const { confirm, done } = await rig.begin(() => rig.client.subscribe('b:/2'))
    rig.end()
    await pause(20)
    confirm()
    await done
    await expect.poll(() => rig.heard).toEqual(expect.arrayContaining([update('a:/1'), { kind: 'tools' }]))
    await expect.poll(() => rig.open.size).toBe(1)
  })

  it('reports all changes that arrived before a stream was replaced', async () => {
    await using rig = await subscribe()
    const { confirm, done } = await rig.begin(() => rig.client.subscribe('b:/2'))
    const uris = Array.from({ length: 30 }, (_, n) => `a:/1/${n}`)
    for (const uri of uris) rig.tell('resources/updated', { uri })
    confirm()
    await done
    await expect.poll(() => rig.heard).toEqual(uris.map(update))
  })

  it('tries again when the server ends the next stream before it has confirmed it', async () => {
    await using rig = await subscribe()
    rig.refuse(1)
    rig.end()
    await expect.poll(() => rig.heard, { timeout: 4_000 }).toContainEqual(update('a:/1'))
    expect(rig.problems).toEqual([])
  })

  it('tries again when the server does not confirm the next stream in time, and reports that', async () => {
    await using rig = await subscribe(100)
    rig.hold(new Promise(() => {}))
    rig.end()
    await expect.poll(() => rig.problems, { timeout: 3_000 }).toHaveLength(1)
    expect(rig.problems[0]).toContain('did not confirm')
    rig.hold(undefined)
    await expect.poll(() => rig.heard, { timeout: 4_000 }).toContainEqual(update('a:/1'))
  })

  it('notices the end of a stream that arrives together with the confirmation of the next one', async () => {
    await using rig = await subscribe()
    const { confirm, done } = await rig.begin(() => rig.client.subscribe('b:/2'))
    rig.end()
    confirm()
    await done
    await expect.poll(() => rig.heard, { timeout: 3_000 }).toContainEqual({ kind: 'tools' })
    await expect.poll(() => rig.open.size).toBe(1)
  })

  it('reports no changes of a resource after unsubscribe', async () => {
    await using rig = await subscribe()
    await rig.client.subscribe('b:/2')
    const { confirm, done } = await rig.begin(() => rig.client.unsubscribe('a:/1'))
    for (let n = 0; n < 30; n++) rig.tell('resources/updated', { uri: `a:/1/${n}` })
    rig.tell('resources/updated', { uri: 'b:/2' })
    confirm()
    await done
    await pause(20)
    expect(rig.heard).toEqual([update('b:/2')])
  })

  it('rejects a subscription that its caller cancels, and leaves none behind', async () => {
    await using rig = await subscribe()
    await expect(rig.client.subscribe('b:/2', { signal: AbortSignal.abort() })).rejects.toMatchObject({
      reason: 'cancelled',
    })
    rig.hold(new Promise(() => {}))
    const held = rig.client.subscribe('b:/2', { signal: AbortSignal.timeout(30) })
    const queued = rig.client.subscribe('c:/3', { signal: AbortSignal.timeout(10) })
    for (const each of [queued, held]) await expect(each).rejects.toMatchObject({ reason: 'cancelled' })
    rig.hold(undefined)
    await rig.client.subscribe('d:/4')
    await expect
      .poll(() => [...rig.open.values()].map(({ filter }) => filter.resourceSubscriptions))
      .toEqual([['a:/1', 'd:/4']])
  })

  it('rejects for a resource that the server does not follow, and keeps the others', async () => {
    const { server, open } = modernServer(undefined, { toolsListChanged: true, resourceSubscriptions: ['a:/1'] })
    await using client = await connect(server, { onChange: () => {} })
    await client.subscribe('a:/1')
    await expect(client.subscribe('b:/2')).rejects.toMatchObject({
      reason: 'unsupported',
      message: expect.stringMatching(/b:\/2$/),
    })
    await expect.poll(() => open.size).toBe(1)
  })

  it('continues with lists when the server follows no resources any more, and reports that once', async () => {
    await using rig = await subscribe()
    rig.follow({ toolsListChanged: true })
    rig.end()
    await expect.poll(() => rig.heard, { timeout: 3_000 }).toContainEqual({ kind: 'tools' })
    expect(rig.problems.filter((each) => each.includes('a:/1'))).toHaveLength(1)
    expect(rig.open.size).toBe(1)
    rig.follow(undefined)
    rig.end()
    await expect.poll(() => rig.heard, { timeout: 4_000 }).toContainEqual(update('a:/1'))
  })

  it('tries again when a server that has confirmed before refuses once', async () => {
    await using rig = await subscribe()
    rig.follow(new RpcError(-32603, 'Too many subscriptions'))
    rig.end()
    await expect.poll(() => rig.problems, { timeout: 3_000 }).toEqual(['Too many subscriptions'])
    rig.follow(undefined)
    await expect.poll(() => rig.heard, { timeout: 4_000 }).toContainEqual({ kind: 'tools' })
  })

  it('counts everything as changed when the first stream is confirmed late', async () => {
    const { server, hold } = modernServer()
    hold(new Promise(() => {}))
    const heard: Change[] = []
    await using _ = await connect(server, {
      timeout: 50,
      onChange: (change) => heard.push(change),
      onWarning: () => {},
    })
    await pause(80)
    hold(undefined)
    await expect.poll(() => heard, { timeout: 3_000 }).toContainEqual({ kind: 'tools' })
  })

  it('can subscribe again to a resource that was refused', async () => {
    await using rig = await subscribe()
    rig.follow({ toolsListChanged: true })
    rig.end()
    await expect.poll(() => rig.heard, { timeout: 3_000 }).toContainEqual({ kind: 'tools' })
    await expect(rig.client.subscribe('a:/1')).rejects.toMatchObject({ reason: 'unsupported' })
    rig.follow(undefined)
    await rig.client.subscribe('a:/1')
    rig.tell('resources/updated', { uri: 'a:/1' })
    await expect.poll(() => rig.heard).toContainEqual(update('a:/1'))
  })

  it('accepts a URI that the server writes differently, and reports updates of its parts', async () => {
    const { server, tell } = modernServer(undefined, { resourceSubscriptions: ['file:///a%20b'] })
    const heard: Change[] = []
    await using client = await connect(server, { onChange: (change) => heard.push(change), onWarning: () => {} })
    await client.subscribe('file:///a b')
    tell('resources/updated', { uri: 'note://part/7' })
    await expect.poll(() => heard).toEqual([update('note://part/7')])
  })

  it('rejects after its timeout while another operation is running', async () => {
    await using rig = await subscribe()
    rig.hold(new Promise(() => {}))
    rig.end()
    await pause(700)
    const late = rig.client.subscribe('b:/2', { timeout: 50 })
    await expect(late).rejects.toMatchObject({ reason: 'timeout' })
  })

  it('subscribes without a timer', async () => {
    await using rig = await subscribe()
    vi.useFakeTimers()
    try {
      await rig.client.subscribe('b:/2')
    } finally {
      vi.useRealTimers()
    }
  })

  it.each([
    ['a server that has no room now', new RpcError(-32603, 'Too many subscriptions'), 3],
    ['one that does not know how', new RpcError(-32601, 'Method not found'), 1],
  ])('opens the first stream later, except with a server that never can: %s', async (_, refusal, most) => {
    const { server } = modernServer(undefined, refusal)
    const problems: string[] = []
    await using _client = await connect(server, {
      onChange: () => {},
      onWarning: (each) => problems.push(each.message),
    })
    await pause(1_800)
    expect([server.asked('subscriptions/listen').length, problems]).toEqual([most, [refusal.message]])
  })

  it('reports once that a server does not follow lists', async () => {
    await using rig = await subscribe()
    rig.follow({ resourceSubscriptions: ['a:/1'] })
    for (let n = 0; n < 2; n++) {
      rig.end()
      await expect.poll(() => rig.heard.length, { timeout: 3_000 }).toBe(n + 1)
      await pause(10)
    }
    expect(rig.problems).toHaveLength(1)
  })

  it('can subscribe again to a resource that a reconnection lost', async () => {
    const fixture = modernServer()
    const connector = connectorTo(() => fixture.server)
    const heard: Change[] = []
    const problems: string[] = []
    const onWarning = ({ message }: Error) => void problems.push(message)
    await using client = await connect(connector, { onChange: (change) => heard.push(change), onWarning })
    for (const uri of ['a:/1', 'b:/2']) await client.subscribe(uri)
    fixture.follow({ ...LISTS, resourceSubscriptions: ['b:/2'] })
    await connector.server.close()
    await expect.poll(() => heard, { timeout: 3_000 }).toContainEqual(update('b:/2'))
    expect(problems).toEqual(['The server no longer announces updates of a:/1'])
    fixture.follow(undefined)
    await client.subscribe('a:/1')
    fixture.tell('resources/updated', { uri: 'a:/1' })
    await expect.poll(() => heard).toContainEqual(update('a:/1'))
  })

  it('reports no changes of a resource while unsubscribe waits', async () => {
    await using rig = await subscribe()
    rig.hold(new Promise(() => {}))
    rig.client.subscribe('b:/2').catch(() => {})
    await pause(10)
    rig.client.unsubscribe('a:/1').catch(() => {})
    rig.tell('resources/updated', { uri: 'a:/1' })
    await pause(20)
    expect(rig.heard).toEqual([])
  })

  it('reports a resource that is below one that was unsubscribed from', async () => {
    await using rig = await subscribe()
    await rig.client.subscribe('file:///docs/')
    await rig.client.subscribe('file:///docs/my notes')
    await rig.client.unsubscribe('file:///docs/')
    rig.tell('resources/updated', { uri: 'file:///docs/my%20notes' })
    await expect.poll(() => rig.heard).toEqual([update('file:///docs/my%20notes')])
  })

  it('accepts an infinite timeout', async () => {
    await using rig = await subscribe()
    rig.hold(pause(30))
    await rig.client.subscribe('b:/2', { timeout: Number.POSITIVE_INFINITY })
  })

  it('reports no warning when it is closed before its first stream is open', async () => {
    for (let n = 0; n < 10; n++) {
      const problems: Error[] = []
      const { server, open } = modernServer()
      const client = await connect(server, { onChange: () => {}, onWarning: (problem) => problems.push(problem) })
      for (let tick = 0; tick < n; tick++) await Promise.resolve()
      await client.close()
      await pause(5)
      expect([problems, open.size]).toEqual([[], 0])
    }
  })

  it('leaves no stream behind that a proxy needed only for a moment', async () => {
    const { server, open } = modernServer()
    await using client = await connect(server)
    const handler = proxy(client)
    for (let n = 0; n < 20; n++) handler.changes?.(() => {})()
    await pause(50)
    expect(open.size).toBe(0)
  })

  it('leaves no stream behind when a subscription of a proxy is refused', async () => {
    const { server, open } = modernServer(undefined, { toolsListChanged: true })
    await using client = await connect(server)
    await expect(proxy(client).subscribe?.({ uri: 'a:/1' }, {} as never)).rejects.toMatchObject({ code: -32602 })
    await expect.poll(() => open.size).toBe(0)
  })

  it('leaves no timer behind when the client of a proxy is closed', async () => {
    const { server, open } = modernServer()
    const client = await connect(server)
    proxy(client).changes?.(() => {})
    await expect.poll(() => open.size).toBe(1)
    vi.useFakeTimers()
    try {
      await client.close()
      await vi.advanceTimersByTimeAsync(0)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('waits longer after each stream that ends at once, until it is closed', async () => {
    vi.useFakeTimers()
    try {
      const { server, open } = modernServer()
      const problems: Error[] = []
      const client = await connect(server, { onChange: () => {}, onWarning: (problem) => problems.push(problem) })
      const endAll = async (ms: number) => {
        for (let passed = 0; passed < ms; passed += 100) {
          await vi.advanceTimersByTimeAsync(100)
          for (const { end } of open.values()) end()
          open.clear()
        }
        return server.asked('subscriptions/listen').length
      }
      expect(await endAll(10_000)).toBeLessThanOrEqual(6)
      const count = await endAll(60_000)
      expect(count).toBeLessThanOrEqual(10)
      await client.close()
      expect(await endAll(120_000)).toBe(count)
      expect(vi.getTimerCount()).toBe(0)
      expect(problems).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })
})
