/** Two peers in one process, connected by a channel in memory: both ask and both answer. */
import { deepEqual, equal, rejects } from 'node:assert/strict'
import {
  ConnectionError,
  createDuplex,
  errorMessage,
  methodNotFound,
  type Responder,
  resultMessage,
} from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import type { Story } from './story.ts'

const CALLS = 10_000

/** Adds at once, counts with progress, and can wait for ever. */
const responder: Responder = {
  async respond(message, exchange) {
    if (!('id' in message)) return undefined
    const { a = 0, b = 0, to = 0 } = (message.params ?? {}) as { a?: number; b?: number; to?: number }
    if (message.method === 'add') return resultMessage(message.id, { sum: a + b })
    if (message.method === 'count') {
      for (let n = 1; n <= to; n += 1) {
        await exchange.notify('notifications/progress', { progressToken: message.id, progress: n, total: to })
      }
      return resultMessage(message.id, { counted: to })
    }
    if (message.method === 'wait') {
      await new Promise((resolve) => exchange.signal.addEventListener('abort', resolve))
      return resultMessage(message.id, {})
    }
    return errorMessage(message.id, methodNotFound(message.method))
  },
}

export const duplexStory: Story = {
  title: 'Two peers on one channel (@mcpx/protocol)',
  async tell(say) {
    const [near, far] = createChannelPair({ maxQueued: 2 * CALLS })
    const server = createDuplex(far, { responder, limits: { running: CALLS } })
    const client = createDuplex(near)

    deepEqual(await client.request('add', { a: 1, b: 2 }), { sum: 3 })
    say('1 + 2 is asked and answered: 3')

    const started = performance.now()
    const numbers = Array.from({ length: CALLS }, (_, n) => n)
    const answers = await Promise.all(numbers.map((a) => client.request('add', { a, b: 1 })))
    deepEqual(
      answers,
      numbers.map((a) => ({ sum: a + 1 })),
    )
    say(`${CALLS} calls at once, each with its own answer, in ${Math.ceil(performance.now() - started)} ms`)

    const heard: unknown[] = []
    await client.request('count', { to: 3 }, { onNotification: ({ params }) => heard.push(params?.progress) })
    deepEqual(heard, [1, 2, 3])
    say(`a call that counts to 3 is heard on its way: ${heard.join(', ')}`)

    const patience = new AbortController()
    setTimeout(() => patience.abort(), 20)
    await rejects(client.request('wait', {}, { signal: patience.signal }), ConnectionError)
    await rejects(client.request('fly'), { name: 'RpcError', message: 'Method not found: "fly"' })
    say('a call that takes too long is cancelled, one that nobody knows is refused')

    equal(client.load.pending, 0)
    await client.close()
    await server.closed
    say('both ends are closed; nothing is left behind')
  },
}
