/** The contract of requesters: JSON-RPC connections over any transport. */

import { type Exchange, invalidParams, type Requester, type Responder, RpcError, resultMessage } from '@mcpx/protocol'
import { check, checkEqual, checkError } from './check.ts'
import { type ContractCase, type ContractOptions, defineContract } from './contract.ts'
import { catchError, delay, waitForTasks } from './timing.ts'

/** Options of `requesterContract`. */
export interface RequesterContractOptions extends ContractOptions {
  /** Whether a cancelled request reaches the responder as an aborted signal. Default: true. */
  readonly supportsCancel?: boolean | undefined
}

type Method = (params: Record<string, unknown>, exchange: Exchange) => unknown

/** Creates a responder with these methods. The member `value` of a result contains the returned value. */
function respondWith(methods: Record<string, Method>): Responder {
  return {
    async respond(message, exchange) {
      const method = methods[message.method]
      const params = message.params ?? {}
      if (!('id' in message)) {
        await method?.(params, exchange)
        return undefined
      }
      try {
        return resultMessage(message.id, { value: await method?.(params, exchange) })
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        const { code, message: text, data } = error
        return { jsonrpc: '2.0', id: message.id, error: { code, message: text, data } }
      }
    },
  }
}

const closedError = { name: 'ConnectionError', reason: 'closed' }

/**
 * The cases that every requester must pass. A whole connection is tested, from the requester to the responder.
 *
 * @param connect Called for each try of a case; returns a requester whose requests reach the given responder.
 */
export function requesterContract(
  connect: (responder: Responder) => Promise<Requester> | Requester,
  options: RequesterContractOptions = {},
): readonly ContractCase[] {
  const { supportsCancel = true } = options
  return defineContract('A requester', options, {
    async 'resolves to the result of a request'() {
      const requester = await connect(respondWith({ echo: ({ text }) => text }))
      checkEqual('request("echo")', await requester.request('echo', { text: 'é\n' }), { value: 'é\n' })
      await requester.close()
    },

    async 'rejects with an RpcError for an error response, with its code, message and data'() {
      const message = 'params.a: expected string, got nothing'
      const requester = await connect(
        respondWith({
          fail() {
            throw invalidParams(message, { data: { path: 'a' } })
          },
        }),
      )
      const expected = { name: 'RpcError', code: -32602, message, data: { path: 'a' } }
      const error = await checkError('request("fail")', () => requester.request('fail'), expected)
      check('the error', error instanceof RpcError, 'an instance of RpcError of @mcpx/protocol', error)
      await requester.close()
    },

    async 'does not reveal the message of an error that the responder threw'() {
      const requester = await connect(
        respondWith({
          crash() {
            throw new Error('secret detail')
          },
        }),
      )
      const expected = { name: 'RpcError', code: -32603 }
      const { message } = await checkError('request("crash")', () => requester.request('crash'), expected)
      check('the message', !message.includes('secret'), 'no "secret"', message)
      await requester.close()
    },

    async 'sends requests concurrently and matches responses in any order'(waitFor) {
      const requester = await connect(respondWith({ slow: ({ n, ms }) => delay(ms as number).then(() => n) }))
      const calls = Array.from({ length: 20 }, (_, n) => requester.request('slow', { n, ms: 40 - 2 * n }))
      const results = await waitFor('20 concurrent requests to resolve', Promise.all(calls))
      checkEqual(
        'the results of 20 concurrent requests',
        results,
        calls.map((_, n) => ({ value: n })),
      )
      await requester.close()
    },

    async 'passes on the progress of a request in order, before its result'() {
      const requester = await connect(
        respondWith({
          async work(params, exchange) {
            const { progressToken } = params._meta as { progressToken: unknown }
            for (let progress = 1; progress <= 5; progress++) {
              await exchange.notify('notifications/progress', { progressToken, progress })
            }
            return 'done'
          },
        }),
      )
      const received: unknown[] = []
      const onNotification = ({ params }: { params?: object | undefined }) =>
        void received.push((params as { progress: number }).progress)
      const call = requester.request('work', { a: 1 }, { onNotification })
      await call.then((result) => void received.push((result as { value: unknown }).value))
      checkEqual('the notifications and the result', received, [1, 2, 3, 4, 5, 'done'])
      await requester.close()
    },

    async 'cancels a request when its signal fires, also at the responder if the transport supports this'(waitFor) {
      let begin = (): void => {}
      const begun = new Promise<void>((resolve) => {
        begin = resolve
      })
      let abort: (reason: unknown) => void = () => {}
      const aborted = new Promise((resolve) => {
        abort = resolve
      })
      const requester = await connect(
        respondWith({
          async wait(_, { signal }) {
            begin()
            await new Promise((resolve) => signal.addEventListener('abort', resolve))
            abort(signal.reason)
          },
        }),
      )
      const controller = new AbortController()
      const call = checkError(
        'the cancelled request',
        () => requester.request('wait', {}, { signal: controller.signal }),
        { name: 'ConnectionError', reason: 'cancelled' },
      )
      await waitFor('the request to reach the responder', begun)
      const reason = new Error('changed my mind')
      controller.abort(reason)
      const error = await waitFor('the cancelled request to reject', call)
      const cause = error.cause instanceof Error ? error.cause.message : error.cause
      checkEqual('the message of the cause', cause, 'changed my mind')
      if (supportsCancel) {
        const received = await waitFor('the signal of the responder to fire', aborted)
        check('the reason of the signal', received !== undefined, 'a reason', received)
      }
      await requester.close()
    },

    async 'does not send a request whose signal has fired already'() {
      let called = false
      const requester = await connect(
        respondWith({
          call() {
            called = true
          },
        }),
      )
      const signal = AbortSignal.abort()
      await checkError('the request', () => requester.request('call', {}, { signal }), { reason: 'cancelled' })
      await waitForTasks()
      checkEqual('whether the responder was called', called, false)
      await requester.close()
    },

    async 'rejects a request without a response after its timeout, and stays usable'() {
      const requester = await connect(respondWith({ slow: () => delay(200), quick: () => 1 }))
      const expected = { name: 'ConnectionError', reason: 'timeout' }
      const place = 'a request of 200 ms with a timeout of 30 ms'
      await checkError(place, () => requester.request('slow', {}, { timeout: 30 }), expected)
      checkEqual('the next request', await requester.request('quick'), { value: 1 })
      await requester.close()
    },

    async 'sends notifications in order'() {
      const received: unknown[] = []
      const responder = respondWith({ 'notifications/x': ({ n }) => void received.push(n), sync: () => 0 })
      const requester = await connect(responder)
      for (const n of [1, 2, 3]) await requester.notify('notifications/x', { n })
      await requester.request('sync')
      checkEqual('the notifications that were received before a later request was answered', received, [1, 2, 3])
      await requester.close()
    },

    async 'rejects waiting and later requests when it is closed'(waitFor) {
      const requester = await connect(respondWith({ never: () => new Promise(() => {}) }))
      const request = () => requester.request('never')
      const waiting = [1, 2, 3].map((n) => checkError(`waiting request ${n} after close()`, request, closedError))
      // The requests must not be unhandled rejections while close() is awaited.
      const rejected = Promise.all(waiting)
      void catchError(() => rejected)
      await delay(10)
      await waitFor('close() to resolve', requester.close())
      await waitFor('the second close() to resolve', requester.close())
      await waitFor('the waiting requests to reject', rejected)
      await waitFor('a later request to reject', checkError('a request after close()', request, closedError))
      checkEqual('closed', await waitFor('`closed` to resolve', requester.closed), undefined)
    },
  })
}
