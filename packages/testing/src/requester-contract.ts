/** What every Requester must do, whatever lies between it and the Responder. */

import {
  ConnectionError,
  type Exchange,
  invalidParams,
  type Requester,
  type Responder,
  RpcError,
  resultMessage,
} from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { caught, delay, settled } from './timing.ts'

export interface RequesterContractOptions {
  /** Connects a new requester to this responder. */
  connect: (responder: Responder) => Promise<Requester> | Requester
  /** Whether the responder can be told that a request was given up. Default: true. */
  tellsCancel?: boolean
}

type Answer = (params: Record<string, unknown>, exchange: Exchange) => unknown

/** A responder of a few methods; a returned value is the result, a throw the error. */
function respondWith(methods: Record<string, Answer>): Responder {
  return {
    async respond(message, exchange) {
      const answer = methods[message.method]
      const params = message.params ?? {}
      if (!('id' in message)) {
        await answer?.(params, exchange)
        return undefined
      }
      try {
        return resultMessage(message.id, { value: await answer?.(params, exchange) })
      } catch (error) {
        if (error instanceof RpcError)
          return {
            jsonrpc: '2.0',
            id: message.id,
            error: { code: error.code, message: error.message, data: error.data },
          }
        throw error
      }
    },
  }
}

export function requesterContract(name: string, { connect, tellsCancel = true }: RequesterContractOptions): void {
  describe(`${name} as a requester`, () => {
    it('gives the result of a request', async () => {
      const requester = await connect(respondWith({ echo: ({ text }) => text }))
      expect(await requester.request('echo', { text: 'é\n' })).toEqual({ value: 'é\n' })
      await requester.close()
    })

    it('throws the error that the peer answered, with its code and data', async () => {
      const requester = await connect(
        respondWith({
          fail: () => {
            throw invalidParams('params.a: expected string, got nothing', { data: { path: 'a' } })
          },
        }),
      )
      const error = await caught(() => requester.request('fail'))
      expect(error).toBeInstanceOf(RpcError)
      expect(error).toMatchObject({
        code: -32602,
        message: 'params.a: expected string, got nothing',
        data: { path: 'a' },
      })
      await requester.close()
    })

    it('says nothing of what went wrong inside the responder', async () => {
      const requester = await connect(
        respondWith({
          crash: () => {
            throw new Error('secret detail')
          },
        }),
      )
      const error = (await caught(() => requester.request('crash'))) as RpcError
      expect(error).toMatchObject({ name: 'RpcError', code: -32603 })
      expect(error.message).not.toContain('secret')
      await requester.close()
    })

    it('has any number of requests in flight and gives each its own answer, in whatever order they come', async () => {
      const requester = await connect(respondWith({ slow: ({ n, ms }) => delay(ms as number).then(() => n) }))
      const calls = Array.from({ length: 20 }, (_, n) => requester.request('slow', { n, ms: 40 - 2 * n }))
      expect(await Promise.all(calls)).toEqual(calls.map((_, n) => ({ value: n })))
      await requester.close()
    })

    it('hears what is said about a request, in order, before its answer', async () => {
      const requester = await connect(
        respondWith({
          work: async (params, exchange) => {
            const { progressToken } = params._meta as { progressToken: unknown }
            for (let progress = 1; progress <= 5; progress++)
              await exchange.notify('notifications/progress', { progressToken, progress })
            return 'done'
          },
        }),
      )
      const heard: unknown[] = []
      const options = {
        onNotification: (n: { params?: object | undefined }) =>
          void heard.push((n.params as { progress: number }).progress),
      }
      const answer = requester
        .request('work', { a: 1 }, options)
        .then((result) => void heard.push((result as { value: unknown }).value))
      await answer
      expect(heard).toEqual([1, 2, 3, 4, 5, 'done'])
      await requester.close()
    })

    it('cancels a request when the signal fires, on both sides if the other can be told', async () => {
      let begin = (): void => {}
      const begun = new Promise<void>((resolve) => {
        begin = resolve
      })
      let tell: (reason: unknown) => void = () => {}
      const told = new Promise((resolve) => {
        tell = resolve
      })
      const requester = await connect(
        respondWith({
          async wait(_, { signal }) {
            begin()
            await new Promise((resolve) => signal.addEventListener('abort', resolve))
            tell(signal.reason)
          },
        }),
      )
      const controller = new AbortController()
      const call = caught(() => requester.request('wait', {}, { signal: controller.signal }))
      await begun
      controller.abort(new Error('changed my mind'))
      const error = await call
      expect(error).toBeInstanceOf(ConnectionError)
      expect(error).toMatchObject({ reason: 'cancelled', cause: { message: 'changed my mind' } })
      if (tellsCancel) expect(await Promise.race([told, delay(2_000)])).toBeDefined()
      await requester.close()
    })

    it('does not send a request whose signal has fired already', async () => {
      let called = false
      const requester = await connect(respondWith({ call: () => (called = true) }))
      expect(await caught(() => requester.request('call', {}, { signal: AbortSignal.abort() }))).toMatchObject({
        reason: 'cancelled',
      })
      await settled()
      expect(called).toBe(false)
      await requester.close()
    })

    it('gives up when no answer comes in time, and goes on to work', async () => {
      const requester = await connect(respondWith({ slow: () => delay(200), quick: () => 1 }))
      expect(await caught(() => requester.request('slow', {}, { timeout: 30 }))).toMatchObject({
        name: 'ConnectionError',
        reason: 'timeout',
      })
      expect(await requester.request('quick')).toEqual({ value: 1 })
      await requester.close()
    })

    it('passes notifications on', async () => {
      const heard: unknown[] = []
      const requester = await connect(respondWith({ 'notifications/x': ({ n }) => void heard.push(n), sync: () => 0 }))
      for (const n of [1, 2, 3]) await requester.notify('notifications/x', { n })
      await requester.request('sync')
      expect(heard).toEqual([1, 2, 3])
      await requester.close()
    })

    it('rejects what waits, and all that comes delay, when it is closed', async () => {
      const requester = await connect(respondWith({ never: () => new Promise(() => {}) }))
      const waiting = [1, 2, 3].map(() => caught(() => requester.request('never')))
      await delay(10)
      await requester.close()
      await requester.close()
      for (const error of await Promise.all(waiting))
        expect(error).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
      expect(await caught(() => requester.request('never'))).toMatchObject({
        name: 'ConnectionError',
        reason: 'closed',
      })
      expect(await requester.closed).toBeUndefined()
    })
  })
}
