/** The dialogues of clients that detect the era of a server. */

import { catchError } from '@mcpx/testing'
import type { Dialogue } from './play-dialogue.ts'
import { legacyOnly, restaurant } from './server.ts'

export const probeDialogues: Readonly<Record<string, Dialogue>> = {
  'probe-legacy-only': {
    title: 'Probe: a server that supports only the legacy era',
    about: 'Discovery fails, and the client makes the handshake on the same connection.',
    async play({ connect, note }) {
      note('A client of both eras.')
      const client = await connect(legacyOnly(restaurant()))
      await client.callTool('add', { a: 1, b: 2 })
      note('A client that supports only the modern era fails.')
      await catchError(() => connect(legacyOnly(restaurant()), { era: 'modern' }))
    },
  },

  'probe-modern-only': {
    title: 'Probe: a server that supports only the modern era',
    about: 'Discovery succeeds.',
    async play({ connect, note }) {
      const server = restaurant({ legacy: false })
      note('A client of both eras.')
      const client = await connect(server)
      await client.callTool('add', { a: 1, b: 2 })
      note('A client that supports only the legacy era fails.')
      await catchError(() => connect(server, { era: 'legacy' }))
    },
  },

  'probe-both': {
    title: 'Probe: a server that supports both eras',
    about: 'A client of both eras uses the modern one; a client with a fixed revision uses that revision.',
    async play({ connect, note }) {
      note('A client of both eras.')
      await connect(restaurant())
      note('A client that supports only the legacy era.')
      await connect(restaurant(), { era: 'legacy' })
      note('A client with a fixed revision.')
      await connect(restaurant(), { era: '2025-03-26' })
    },
  },
}
