/** The contract of event buses, which connect the processes of one endpoint. */

import type { EventBus } from '@mcpx/protocol'
import { check, checkEqual } from './check.ts'
import { type ContractCase, defineContract } from './contract.ts'
import type { StoreContractOptions } from './session-store-contract.ts'
import { waitForTasks } from './timing.ts'

/** Options of `eventBusContract`. */
export interface EventBusContractOptions extends StoreContractOptions<EventBus> {
  /** Resolves when published messages have arrived. Default: after five turns of the event loop. */
  readonly waitForDelivery?: (() => Promise<void>) | undefined
  /**
   * Breaks the connection of a bus, and resolves when the bus has connected again. Default: the case of a lost
   * connection is left out, because the bus has no connection.
   */
  readonly interrupt?: ((bus: EventBus) => Promise<void>) | undefined
}

/**
 * The cases that every event bus must pass.
 *
 * @param create Called for each try of a case; returns a bus without subscribers.
 */
export function eventBusContract(
  create: () => EventBus | Promise<EventBus>,
  options: EventBusContractOptions = {},
): readonly ContractCase[] {
  const { openSecond = (bus) => bus, waitForDelivery = waitForTasks, interrupt } = options
  const cases = defineContract('An event bus', options, {
    async 'delivers the messages of a topic in order, to every process'() {
      const bus = await create()
      const received: string[] = []
      const second = await openSecond(bus)
      await second.subscribe('t', (message) => received.push(message))
      for (const message of ['1', '2', '3']) await bus.publish('t', message)
      await waitForDelivery()
      checkEqual('the messages at the second bus', received, ['1', '2', '3'])
    },

    async 'delivers a message to its own topic only'() {
      const bus = await create()
      const received: string[] = []
      await bus.subscribe('t', (message) => received.push(message))
      for (const topic of ['u', '__proto__', '']) await bus.publish(topic, `of ${topic}`)
      await waitForDelivery()
      checkEqual('the messages of topic "t" after publishing to other topics', received, [])
    },

    async 'ends one subscription when its function is called, however often'() {
      const bus = await create()
      const received: string[] = []
      const listener = (message: string) => void received.push(message)
      const unsubscribe = await bus.subscribe('t', listener)
      await bus.subscribe('t', listener)
      await unsubscribe()
      await unsubscribe()
      await bus.publish('t', 'x')
      await waitForDelivery()
      checkEqual('the messages after one of two subscriptions of the same listener ended', received, ['x'])
    },

    async 'delivers to the other listeners when one throws'() {
      const bus = await create()
      const received: string[] = []
      await bus.subscribe('t', () => {
        throw new Error('thrown by a listener')
      })
      await bus.subscribe('t', (message) => received.push(message))
      await bus.publish('t', 'x')
      await waitForDelivery()
      checkEqual('the messages at the second listener', received, ['x'])
    },

    async 'keeps the order for every listener when one of them publishes'() {
      const bus = await create()
      const received: string[] = []
      await bus.subscribe('t', (message) => {
        if (message === '1') void bus.publish('t', '2')
      })
      await bus.subscribe('t', (message) => received.push(message))
      await bus.publish('t', '1')
      await waitForDelivery()
      checkEqual('the messages at the second listener', received, ['1', '2'])
    },

    async 'lets a listener end its own and other subscriptions while it is called'() {
      const bus = await create()
      const received: string[] = []
      const unsubscribes: (() => unknown)[] = []
      unsubscribes.push(await bus.subscribe('t', () => void unsubscribes.forEach((each) => void each())))
      unsubscribes.push(await bus.subscribe('t', (message) => received.push(message)))
      await bus.publish('t', 'a')
      await bus.publish('t', 'b')
      await waitForDelivery()
      check('the messages after all subscriptions ended', !received.includes('b'), 'no "b"', received)
    },

    async 'delivers the messages of 50 concurrent publishers, each once and in the order of its publisher'() {
      const bus = await create()
      const second = await openSecond(bus)
      const received: [string[], string[]] = [[], []]
      await bus.subscribe('t', (message) => received[0].push(message))
      await second.subscribe('t', (message) => received[1].push(message))
      const publishers = Array.from({ length: 50 }, (_, n) => n)
      await Promise.all(
        publishers.map(async (n) => {
          for (const part of [0, 1, 2]) await (n % 2 ? bus : second).publish('t', `${n} ${part}`)
        }),
      )
      await waitForDelivery()
      for (let more = 0; more < 10 && received.some(({ length }) => length < 150); more++) await waitForDelivery()
      const expected = publishers.flatMap((n) => [0, 1, 2].map((part) => `${n} ${part}`))
      for (const [n, messages] of received.entries()) {
        const byPublisher = publishers.flatMap((each) => messages.filter((message) => message.startsWith(`${each} `)))
        checkEqual(`the messages at bus ${n + 1}, by their publisher`, byPublisher, expected)
      }
    },

    async 'delivers every message while other subscriptions begin and end'() {
      const bus = await create()
      const second = await openSecond(bus)
      const received: string[] = []
      await bus.subscribe('t', (message) => received.push(message))
      const sent = Array.from({ length: 100 }, (_, n) => String(n))
      const publishing = (async () => {
        for (const message of sent) await second.publish('t', message)
      })()
      const churn = sent.map(async (n) => {
        const unsubscribe = await bus.subscribe(Number(n) % 2 ? 't' : `u${n}`, () => {})
        await unsubscribe()
      })
      await Promise.all([publishing, ...churn])
      await waitForDelivery()
      checkEqual('the messages at the lasting subscription', received, sent)
    },

    async 'delivers to the right subscriptions while 200 others begin at once, end at once and begin again'() {
      const bus = await create()
      const second = await openSecond(bus)
      const received: string[] = []
      const topics = Array.from({ length: 200 }, (_, n) => `t${n}`)
      const subscribeAll = () =>
        Promise.all(topics.map((topic) => bus.subscribe(topic, (message) => received.push(`${topic} ${message}`))))
      const ending = await subscribeAll()
      await bus.subscribe('lasting', (message) => received.push(`lasting ${message}`))
      const ended = Promise.all(ending.map((unsubscribe) => unsubscribe()))
      const again = subscribeAll()
      await second.publish('lasting', 'x')
      await ended
      await again
      for (const topic of ['t0', 't199']) await second.publish(topic, 'y')
      await waitForDelivery()
      checkEqual('the messages', received.sort(), ['lasting x', 't0 y', 't199 y'])
    },
  })
  if (interrupt === undefined) return cases
  return [
    ...cases,
    ...defineContract('An event bus', options, {
      async 'reports a gap after a lost connection, once to each subscription, and delivers again'() {
        const bus = await create()
        const second = await openSecond(bus)
        const received: string[] = []
        for (const name of ['first', 'second']) {
          await bus.subscribe(
            't',
            (message) => received.push(`${name}: ${message}`),
            () => received.push(`${name}: gap`),
          )
        }
        await interrupt(bus)
        await waitForDelivery()
        // The machine may be busy while the connection is opened again.
        for (let more = 0; more < 10 && received.length < 2; more++) await waitForDelivery()
        checkEqual('the gaps', received.splice(0).sort(), ['first: gap', 'second: gap'])
        await second.publish('t', 'x')
        await waitForDelivery()
        checkEqual('the messages after the gap', received.sort(), ['first: x', 'second: x'])
      },
    }),
  ]
}
