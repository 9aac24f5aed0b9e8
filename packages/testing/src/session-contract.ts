/** Contract tests for sessions, with any store of session records. */

import type { Session } from '@mcpx/protocol'
import { check, checkEqual, checkError } from './check.ts'
import { type ContractCase, type ContractOptions, defineContract } from './contract.ts'

/**
 * The cases that every session must pass.
 *
 * @param create Called for each try of a case; returns a session with an empty record.
 */
export function sessionContract(
  create: () => Session | Promise<Session>,
  options: ContractOptions = {},
): readonly ContractCase[] {
  return defineContract('A session', options, {
    async 'has an id of visible ASCII characters and an empty record'() {
      const session = await create()
      check('id', /^[\x21-\x7e]+$/.test(session.id), 'visible ASCII characters', session.id)
      checkEqual('state', session.state, {})
    },

    async 'shows an update in its state and keeps earlier ones'() {
      const session = await create()
      await session.update((state) => void Object.assign(state, { initialized: true }))
      await session.update((state) => void Object.assign(state, { subscriptions: ['x:1'] }))
      checkEqual('state after two updates', session.state, { initialized: true, subscriptions: ['x:1'] })
    },

    async 'does not change a state that was read before an update'() {
      const session = await create()
      await session.update((state) => void Object.assign(state, { subscriptions: ['x:1'] }))
      const before = session.state
      await session.update((state) => void state.subscriptions?.push('x:2'))
      checkEqual('the state that was read before the update', before, { subscriptions: ['x:1'] })
      checkEqual('state', session.state, { subscriptions: ['x:1', 'x:2'] })
    },

    async 'rejects an update whose callback throws, and keeps the record as it was'() {
      const session = await create()
      await checkError('update() with a callback that throws', () =>
        session.update((state) => {
          state.logLevel = 'debug'
          throw new Error('thrown by the callback')
        }),
      )
      checkEqual('state', session.state, {})
    },

    async 'loses none of several concurrent updates'() {
      const session = await create()
      const uris = ['x:1', 'x:2', 'x:3']
      const add = (uri: string) =>
        session.update((state) => {
          state.subscriptions = [...(state.subscriptions ?? []), uri]
        })
      await Promise.all(uris.map(add))
      checkEqual('the subscriptions', [...(session.state.subscriptions ?? [])].sort(), uris)
    },
  })
}
