import { type Change, type JsonObject, RpcError } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { connectorTo, scriptedServer } from '../test/scripted-server.ts'
import { connect } from './connect.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const update = (uri: string): Change => ({ kind: 'resource', uri })

/** A legacy server, its subscriptions, and the resources that no longer exist. */
function subscribable(slow = 0, slowToSubscribe: (nth: number) => number = () => 0) {
  let asked = 0
  const uris = new Set<string>()
  const gone = new Set<string>()
  const server = () =>
    scriptedServer('2025-11-25', {
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
      answers: {
        async 'resources/subscribe'({ params }) {
          const uri = String(params.uri)
          asked += 1
          await pause(slowToSubscribe(asked))
          if (gone.has(uri)) throw new RpcError(-32002, 'Resource not found')
          uris.add(uri)
          return {}
        },
        async 'resources/unsubscribe'({ params }) {
          await pause(slow)
          uris.delete(String(params.uri))
          return {}
        },
      },
    })
  const connector = connectorTo(server)
  const tell = (name: string, params?: JsonObject) => void connector.server.notify(`notifications/${name}`, params)
  return { connector, uris, gone, tell }
}

async function listener(rig: ReturnType<typeof subscribable>, timeout?: number) {
  const heard: Change[] = []
  const problems: string[] = []
  const client = await connect(rig.connector, {
    era: 'legacy',
    timeout,
    onChange: (change) => heard.push(change),
    onWarning: ({ message }) => problems.push(message),
  })
  return { client, heard, problems, [Symbol.asyncDispose]: () => client.close() }
}

describe('a client of a legacy server', () => {
  it('continues without a resource that is gone after a reconnection', async () => {
    const rig = subscribable()
    await using all = await listener(rig)
    const { client, heard } = all
    for (const uri of ['a:/1', 'b:/2']) await client.subscribe(uri)
    rig.gone.add('a:/1')
    rig.uris.clear()
    await rig.connector.server.close()
    await expect.poll(() => heard, { timeout: 3_000 }).toContainEqual(update('b:/2'))
    await client.subscribe('c:/3')
    await client.unsubscribe('b:/2')
    await expect.poll(() => [...rig.uris]).toEqual(['c:/3'])
    await expect(client.subscribe('a:/1')).rejects.toMatchObject({ code: -32002 })
    rig.gone.clear()
    await client.subscribe('a:/1')
    rig.tell('resources/updated', { uri: 'a:/1' })
    await expect.poll(() => heard).toContainEqual(update('a:/1'))
  })

  it('reports the resources that a reconnection lost, and can subscribe to them again', async () => {
    const rig = subscribable()
    await using all = await listener(rig)
    for (const uri of ['a:/1', 'b:/2']) await all.client.subscribe(uri)
    rig.gone.add('a:/1')
    await rig.connector.server.close()
    await expect.poll(() => all.heard, { timeout: 3_000 }).toContainEqual(update('b:/2'))
    expect(all.problems).toEqual([expect.stringContaining('a:/1')])
    rig.gone.clear()
    await all.client.subscribe('a:/1')
    rig.tell('resources/updated', { uri: 'a:/1' })
    await expect.poll(() => all.heard).toContainEqual(update('a:/1'))
  })

  it('is not blocked by a server that does not answer resources/unsubscribe', async () => {
    const rig = subscribable(60_000)
    await using all = await listener(rig, 5_000)
    await all.client.subscribe('a:/1')
    await all.client.unsubscribe('a:/1')
    await pause(20)
    const again = all.client.subscribe('a:/1', { timeout: 100 })
    await expect(again).rejects.toMatchObject({ reason: 'timeout' })
    await all.client.subscribe('b:/2')
    await all.client.unsubscribe('b:/2')
    await all.client.subscribe('a:/1')
  })

  it.each([
    ['closed', {}],
    ['out of time', { timeout: 20 }],
  ])(
    'keeps a stream open when another one for the same resource is %s before both are confirmed',
    async (how, options) => {
      const rig = subscribable(0, () => 60)
      await using all = await listener(rig)
      const one = all.client.listen({ resourceSubscriptions: ['a:/1'] }, options)
      const two = all.client.listen({ resourceSubscriptions: ['a:/1'] })
      await pause(30)
      if (how === 'closed') one.close()
      await expect(one.ready).rejects.toMatchObject({ name: 'ConnectionError' })
      await two.ready
      two.close()
      await expect.poll(() => rig.uris.size).toBe(0)
    },
  )

  it('can subscribe again after the first answer came too late', async () => {
    const rig = subscribable(0, (nth) => (nth === 1 ? 1_400 : 0))
    await using all = await listener(rig)
    await expect(all.client.subscribe('a:/1', { timeout: 50 })).rejects.toMatchObject({ reason: 'timeout' })
    await all.client.subscribe('a:/1')
    await pause(1_600)
    expect([...rig.uris]).toEqual(['a:/1'])
  })

  it('can subscribe again before a slow server has answered resources/unsubscribe', async () => {
    const rig = subscribable(1_300)
    await using all = await listener(rig)
    await all.client.subscribe('a:/1')
    await all.client.unsubscribe('a:/1')
    await pause(20)
    await all.client.subscribe('a:/1')
    await pause(500)
    expect([...rig.uris]).toEqual(['a:/1'])
  })

  it('leaves no subscription behind that timed out or was closed before the server answered', async () => {
    const rig = subscribable(0, () => 150)
    await using all = await listener(rig)
    await expect(all.client.subscribe('a:/1', { timeout: 30 })).rejects.toMatchObject({ reason: 'timeout' })
    all.client.listen({ resourceSubscriptions: ['b:/2'] }).close()
    await pause(250)
    expect([...rig.uris]).toEqual([])
    expect(all.problems).toEqual([])
  })

  it('opens a new stream when a late resources/unsubscribe ends a new subscription that is then refused', async () => {
    const rig = subscribable(1_300)
    await using all = await listener(rig)
    await all.client.subscribe('a:/1')
    await all.client.unsubscribe('a:/1')
    await pause(20)
    await all.client.subscribe('a:/1')
    rig.gone.add('a:/1')
    await expect.poll(() => all.problems.length, { timeout: 2_000 }).toBeGreaterThan(0)
    rig.gone.clear()
    await all.client.subscribe('a:/1')
    rig.tell('resources/updated', { uri: 'a:/1' })
    await expect.poll(() => all.heard).toContainEqual(update('a:/1'))
  })

  it('waits for the answer to resources/unsubscribe longer than its own timeout', async () => {
    const rig = subscribable(400)
    await using all = await listener(rig, 200)
    await all.client.subscribe('a:/1')
    await all.client.unsubscribe('a:/1')
    await pause(20)
    await all.client.subscribe('a:/1', { timeout: 2_000 })
    await pause(500)
    expect([...rig.uris]).toEqual(['a:/1'])
  })

  it('rejects when the signal of the call fires, and leaves no subscription behind', async () => {
    const rig = subscribable(0, () => 100)
    await using all = await listener(rig)
    const subscribed = all.client.subscribe('a:/1', { signal: AbortSignal.timeout(20) })
    await expect(subscribed).rejects.toMatchObject({ reason: 'cancelled', message: 'subscribe "a:/1" was cancelled' })
    await pause(200)
    expect([...rig.uris]).toEqual([])
  })

  it('counts a given timeout of a subscription from its call, also while others are waiting', async () => {
    const rig = subscribable(0, () => 150)
    await using all = await listener(rig)
    const first = all.client.subscribe('a:/1')
    await expect(all.client.subscribe('b:/2', { timeout: 50 })).rejects.toMatchObject({ reason: 'timeout' })
    await first
  })

  it('uses the timeout of the call although that of the client is shorter', async () => {
    const rig = subscribable(0, () => 250)
    await using all = await listener(rig, 100)
    await all.client.subscribe('a:/1', { timeout: 5_000 })
    await all.client.listen({ resourceSubscriptions: ['b:/2'] }, { timeout: 5_000 }).ready
  })

  it('counts the default timeout of each of many subscriptions from its turn', async () => {
    const rig = subscribable(0, () => 30)
    await using all = await listener(rig, 300)
    await Promise.all(Array.from({ length: 20 }, (_, n) => all.client.subscribe(`a:/${n}`)))
    expect(rig.uris.size).toBe(20)
  })

  it('leaves no subscription behind when one of many is not confirmed in time', async () => {
    const rig = subscribable(0, (nth) => (nth === 1 ? 10_000 : nth < 11 ? 50 : 90))
    await using all = await listener(rig)
    const uris = Array.from({ length: 11 }, (_, n) => `a:/${n}`)
    const { ready } = all.client.listen({ resourceSubscriptions: uris }, { timeout: 110 })
    await expect(ready).rejects.toMatchObject({ reason: 'timeout' })
    await pause(100)
    expect([...rig.uris]).toEqual([])
  })

  it('keeps a resource that one stream ends late and another one follows', async () => {
    const rig = subscribable(100)
    await using all = await listener(rig)
    const many = Array.from({ length: 12 }, (_, n) => `x:/${n}`)
    rig.gone.add('p:/1')
    const one = all.client.listen({ resourceSubscriptions: [...many, 'p:/1'] })
    await one.ready
    one.close()
    rig.gone.clear()
    await all.client.listen({ resourceSubscriptions: ['p:/1'] }).ready
    await expect.poll(() => [...rig.uris], { timeout: 2_000 }).toEqual(['p:/1'])
  })

  it('can subscribe again while resources/unsubscribe is running', async () => {
    const rig = subscribable(30)
    await using all = await listener(rig)
    await all.client.subscribe('a:/1')
    await all.client.unsubscribe('a:/1')
    await all.client.subscribe('a:/1')
    await pause(60)
    expect([...rig.uris]).toEqual(['a:/1'])
  })

  it('counts everything as changed when it subscribes while it is disconnected', async () => {
    const rig = subscribable()
    await using all = await listener(rig)
    await all.client.subscribe('a:/1')
    await rig.connector.server.close()
    await pause(5)
    await all.client.subscribe('b:/2')
    await expect.poll(() => all.heard).toEqual(expect.arrayContaining([update('a:/1'), { kind: 'tools' }]))
    expect(all.problems).toEqual([])
  })
})
