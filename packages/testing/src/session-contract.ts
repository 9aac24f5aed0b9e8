/** What every Session must do, whatever its record is kept in. */

import type { Session } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { caught } from './timing.ts'

export interface SessionContractOptions {
  /** A session of its own for each test, whose record is empty. */
  create: () => Session | Promise<Session>
}

export function sessionContract(name: string, { create }: SessionContractOptions): void {
  describe(`${name} as a session`, () => {
    it('has a name and an empty record', async () => {
      const session = await create()
      expect(session.id).toMatch(/^[\x21-\x7e]+$/)
      expect(session.state).toEqual({})
    })

    it('shows a change once it is made, and adds to what is there', async () => {
      const session = await create()
      await session.update((state) => void Object.assign(state, { initialized: true }))
      await session.update((state) => void Object.assign(state, { subscriptions: ['x:1'] }))
      expect(session.state).toEqual({ initialized: true, subscriptions: ['x:1'] })
    })

    it('does not change a record that was handed out', async () => {
      const session = await create()
      await session.update((state) => void Object.assign(state, { subscriptions: ['x:1'] }))
      const before = session.state
      await session.update((state) => void state.subscriptions?.push('x:2'))
      expect(before).toEqual({ subscriptions: ['x:1'] })
      expect(session.state).toEqual({ subscriptions: ['x:1', 'x:2'] })
    })

    it('keeps the record as it was when a change throws', async () => {
      const session = await create()
      const failing = caught(() =>
        session.update((state) => {
          state.logLevel = 'debug'
          throw new Error('no')
        }),
      )
      expect(await failing).toBeInstanceOf(Error)
      expect(session.state).toEqual({})
    })

    it('loses none of several changes made at once', async () => {
      const session = await create()
      const add = (uri: string) =>
        session.update((state) => {
          state.subscriptions = [...(state.subscriptions ?? []), uri]
        })
      await Promise.all(['x:1', 'x:2', 'x:3'].map(add))
      expect([...(session.state.subscriptions ?? [])].sort()).toEqual(['x:1', 'x:2', 'x:3'])
    })
  })
}
