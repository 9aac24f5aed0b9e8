/** How a client finds out which era a server speaks. */

import { caught } from '@mcpx/testing'
import { legacyOnly, restaurant } from './server.ts'
import type { Dialogue } from './stage.ts'

export const probeDialogues: Readonly<Record<string, Dialogue>> = {
  'probe-legacy-only': {
    title: 'Probe: a server that speaks the legacy era only',
    about: 'Discovery fails, and the client shakes hands on the same connection.',
    async play({ connect, note }) {
      note('A client of any age.')
      const client = await connect(legacyOnly(restaurant()))
      await client.callTool('add', { a: 1, b: 2 })
      note('A client that speaks the modern era only gives up.')
      await caught(() => connect(legacyOnly(restaurant()), { era: 'modern' }))
    },
  },

  'probe-modern-only': {
    title: 'Probe: a server that speaks the modern era only',
    about: 'Discovery tells all that there is to know.',
    async play({ connect, note }) {
      const server = restaurant({ legacy: false })
      note('A client of any age.')
      const client = await connect(server)
      await client.callTool('add', { a: 1, b: 2 })
      note('A client that speaks the legacy era only gives up.')
      await caught(() => connect(server, { era: 'legacy' }))
    },
  },

  'probe-both': {
    title: 'Probe: a server that speaks both eras',
    about: 'A client of any age takes the newer one; one that is pinned to an older revision gets that one.',
    async play({ connect, note }) {
      note('A client of any age.')
      await connect(restaurant())
      note('A client that speaks the legacy era only.')
      await connect(restaurant(), { era: 'legacy' })
      note('A client that is pinned.')
      await connect(restaurant(), { era: '2025-03-26' })
    },
  },
}
