/** What every EventBus must do, whatever it is made of. */

import type { EventBus } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import type { StoreContractOptions } from './session-store-contract.ts'
import { settled } from './timing.ts'

export interface BusContractOptions extends StoreContractOptions<EventBus> {
  /** Resolves when what was published has arrived, as far as it can. Default: after a few turns of the event loop. */
  settle?: () => Promise<void>
}

export function eventBusContract(
  name: string,
  { create, twin = (bus) => bus, settle = settled }: BusContractOptions,
): void {
  describe(`${name} as an event bus`, () => {
    it('carries messages of a topic in order, to every process', async () => {
      const bus = await create()
      const heard: string[] = []
      await (await twin(bus)).subscribe('t', (message) => heard.push(message))
      for (const message of ['1', '2', '3']) await bus.publish('t', message)
      await settle()
      expect(heard).toEqual(['1', '2', '3'])
    })

    it('carries nothing to other topics, nor to a topic that nobody hears', async () => {
      const bus = await create()
      const heard: string[] = []
      await bus.subscribe('t', (message) => heard.push(message))
      for (const topic of ['u', '__proto__', '']) await bus.publish(topic, 'x')
      await settle()
      expect(heard).toEqual([])
    })

    it('stops when told to, for that listener alone, however often it is told', async () => {
      const bus = await create()
      const heard: string[] = []
      const listener = (message: string) => void heard.push(message)
      const stopFirst = await bus.subscribe('t', listener)
      await bus.subscribe('t', listener)
      await stopFirst()
      await stopFirst()
      await bus.publish('t', 'x')
      await settle()
      expect(heard).toEqual(['x'])
    })

    it('reaches the other listeners when one throws', async () => {
      const bus = await create()
      const heard: string[] = []
      await bus.subscribe('t', () => {
        throw new Error('listener')
      })
      await bus.subscribe('t', (message) => heard.push(message))
      await bus.publish('t', 'x')
      await settle()
      expect(heard).toEqual(['x'])
    })

    it('keeps the order for every listener when one of them publishes', async () => {
      const bus = await create()
      const heard: string[] = []
      await bus.subscribe('t', (message) => {
        if (message === '1') void bus.publish('t', '2')
      })
      await bus.subscribe('t', (message) => heard.push(message))
      await bus.publish('t', '1')
      await settle()
      expect(heard).toEqual(['1', '2'])
    })

    it('lets a listener stop itself and others while it is called', async () => {
      const bus = await create()
      const heard: string[] = []
      const stops: (() => unknown)[] = []
      stops.push(await bus.subscribe('t', () => void stops.forEach((stop) => void stop())))
      stops.push(await bus.subscribe('t', (message) => heard.push(message)))
      await bus.publish('t', 'a')
      await bus.publish('t', 'b')
      await settle()
      expect(heard).not.toContain('b')
    })
  })
}
