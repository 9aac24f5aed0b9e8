import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ask, bare, pair, turn } from './connection.fixture.ts'
import { createDuplex, type Duplex } from './connection.ts'
import type { Responder } from './exchange.ts'
import { createChannelPair } from './memory.ts'
import { resultMessage } from './messages.ts'
import type { Channel } from './transport.ts'

/** Counts the active timers, including unreferenced ones. */
function watchTimers() {
  const armed = new Set<unknown>()
  const { setTimeout: set, clearTimeout: clear } = globalThis
  globalThis.setTimeout = ((run: () => void, ms?: number) => {
    const timer = set(() => {
      armed.delete(timer)
      run()
    }, ms)
    armed.add(timer)
    return timer
  }) as typeof setTimeout
  globalThis.clearTimeout = ((timer: NodeJS.Timeout) => {
    armed.delete(timer)
    clear(timer)
  }) as typeof clearTimeout
  const restore = () => Object.assign(globalThis, { setTimeout: set, clearTimeout: clear })
  return { armed, restore }
}

describe('closing', () => {
  let timers: ReturnType<typeof watchTimers>
  beforeEach(() => {
    timers = watchTimers()
  })
  afterEach(() => {
    timers.restore()
    expect(timers.armed.size).toBe(0)
  })

  it('rejects pending requests with one error, aborts running ones, and clears all timers', async () => {
    let signal: AbortSignal | undefined
    const { client, server } = pair({
      respond(_, exchange) {
        signal = exchange.signal
        return new Promise(() => {})
      },
    })
    const calls = Array.from({ length: 50 }, () =>
      client.request('m', {}, { onNotification: () => {} }).catch((error) => error),
    )
    await turn()
    expect(client.load.pending).toBe(50)
    await client.close()
    const errors = await Promise.all(calls)
    expect(new Set(errors).size).toBe(1)
    expect(errors[0]).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
    await server.closed
    expect(signal?.aborted).toBe(true)
    expect(client.load.pending + server.load.pending).toBe(0)
  })

  it('removes its listener from every signal', async () => {
    const { client } = pair({ respond: (message) => ('id' in message ? resultMessage(message.id, {}) : undefined) })
    let listeners = 0
    const { signal } = new AbortController()
    const counting = new Proxy(signal, {
      get(target, key) {
        if (key === 'addEventListener') listeners += 1
        if (key === 'removeEventListener') listeners -= 1
        const value = Reflect.get(target, key, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    for (let n = 0; n < 20; n++) await client.request('m', {}, { signal: counting })
    expect(listeners).toBe(0)
    await client.close()
  })

  it('waits for running calls when it drains, rejects new ones, and aborts those that take too long', async () => {
    const respond: Responder['respond'] = async (message, { signal }) => {
      if (message.method === 'quick') await turn(30)
      else await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return 'id' in message ? resultMessage(message.id, {}) : undefined
    }
    const { client, server } = pair({ respond })
    const quick = client.request('quick')
    const stuck = client.request('stuck').catch((error) => error)
    await turn()
    const drained = server.drain(60)
    await turn()
    await expect(client.request('quick')).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining('Shutting down'),
    })
    expect(await quick).toEqual({})
    await drained
    expect(await stuck).toMatchObject({ reason: 'closed' })
    expect(server.load.running).toBe(0)
  })

  it('waits for running calls without limit if the timeout is Infinity', async () => {
    const respond: Responder['respond'] = async (message) => {
      await turn(30)
      return 'id' in message ? resultMessage(message.id, { ok: true }) : undefined
    }
    const { client, server } = pair({ respond })
    const call = client.request('m').catch((error) => error)
    await turn()
    await server.drain(Number.POSITIVE_INFINITY)
    expect(await call).toEqual({ ok: true })
  })

  const untilAborted: Responder['respond'] = (_, { signal }) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)))

  it('does not wait for streams of changes when it drains', async () => {
    const { client, server } = pair({ respond: untilAborted })
    const stream = client.request('subscriptions/listen').catch((error) => error)
    await turn()
    await server.drain(60_000)
    expect(await stream).toMatchObject({ reason: 'closed' })
  })

  it('does not wait for streams of changes when the peer has ended its side', async () => {
    let endInput = (): void => {}
    const channel: Channel = {
      send: () => {},
      receive: async (receiver) => {
        await receiver(ask(1, 'subscriptions/listen'))
        await new Promise<void>((resolve) => (endInput = resolve))
      },
      close: async () => {},
    }
    const duplex = createDuplex(channel, { drainTimeout: 60_000, responder: { respond: untilAborted } })
    await turn()
    endInput()
    expect(await duplex.closed).toBeUndefined()
  })

  it('answers running requests after the peer has ended its side, within the drain timeout', async () => {
    const received: unknown[] = []
    let endInput = (): void => {}
    const channel: Channel = {
      send: (message) => void received.push(message),
      receive: async (receiver) => {
        await receiver(ask(1, 'm'))
        await new Promise<void>((resolve) => (endInput = resolve))
      },
      close: async () => {},
    }
    const duplex = createDuplex(channel, {
      drainTimeout: 1000,
      responder: {
        respond: async (message) => {
          await turn(20)
          return 'id' in message ? resultMessage(message.id, {}) : undefined
        },
      },
    })
    await turn()
    endInput()
    await expect(duplex.request('m').catch((error) => error)).resolves.toBeInstanceOf(Error)
    await duplex.closed
    expect(received).toContainEqual(resultMessage(1, {}))
  })

  it('closes with the error of the channel', async () => {
    const duplex: Duplex = createDuplex({
      send: () => {},
      receive: () => Promise.reject(new Error('cable')),
      close: async () => {},
    })
    const call = duplex.request('m').catch((error) => error)
    expect(await duplex.closed).toMatchObject({ reason: 'closed', cause: { message: 'cable' } })
    expect(await call).toMatchObject({ reason: 'closed', cause: { message: 'cable' } })
  })

  it('can be closed twice, also from both ends at once', async () => {
    const { client, server } = pair({ respond: () => undefined })
    await Promise.all([client.close(), client.close(), server.close()])
    expect(await client.closed).toBeUndefined()
    expect(await server.closed).toBeUndefined()
    await client.notify('notifications/x')
  })

  it('does not start requests that are still in the channel', async () => {
    let ran = 0
    const { duplex, far } = bare({
      responder: {
        respond() {
          ran += 1
          void duplex.close()
          return new Promise(() => {})
        },
      },
    })
    for (let id = 0; id < 10; id++) void far.send(ask(id, 'm'))
    await turn()
    expect(ran).toBe(1)
  })

  it('releases handlers and feeds that wait for a peer that does not read', async () => {
    const [near, far] = createChannelPair({ highWaterMark: 1 })
    let settled = 0
    let feedEnded = false
    let told = 0
    const duplex = createDuplex(near, {
      responder: {
        async respond(message, exchange) {
          if (!('id' in message)) {
            await exchange.session?.update((state) => void Object.assign(state, { initialized: true }))
            return undefined
          }
          for (let n = 0; n < 5; n++) await exchange.notify('notifications/progress', { progressToken: 1, progress: n })
          settled += 1
          return resultMessage(message.id, {})
        },
        watchChanges(_, tell) {
          void (async () => {
            while (!feedEnded) {
              told += 1
              await tell({ jsonrpc: '2.0', method: 'notifications/x' })
              await turn()
            }
          })()
          return () => {
            feedEnded = true
          }
        },
      },
    })
    void far.send(ask(1, 'm'))
    void far.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    await turn(10)
    expect([settled, feedEnded]).toEqual([0, false])
    expect(told).toBeLessThan(3)
    await duplex.close()
    await turn()
    expect([settled, feedEnded]).toEqual([1, true])
    expect(duplex.load.running).toBe(0)
  })

  it('ignores errors of onWarning, feeds and listeners', async () => {
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    const { duplex, far } = bare({
      onWarning() {
        throw new Error('reporter')
      },
      responder: {
        async respond(message, { session }) {
          if (message.method === 'notifications/initialized') {
            await session?.update((state) => void Object.assign(state, { initialized: true }))
          }
          return undefined
        },
        watchChanges() {
          throw new Error('feed')
        },
      },
    })
    const call = duplex.request('m', {}, { onNotification: async () => Promise.reject(new Error('listener')) })
    await far.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    await far.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } })
    await far.send(resultMessage(1, { ok: true }))
    expect(await call).toEqual({ ok: true })
    await turn(5)
    process.off('unhandledRejection', onUnhandled)
    expect(unhandled).toEqual([])
    await duplex.close()
  })
})
