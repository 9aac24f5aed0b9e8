/** The dialogues of the legacy era. */

import { catchError } from '@mcpx/testing'
import type { Dialogue } from './play-dialogue.ts'
import { restaurant } from './server.ts'

const era = '2025-11-25'

export const legacyDialogues: Readonly<Record<string, Dialogue>> = {
  'legacy-call': {
    title: 'Legacy: handshake, list and call',
    about:
      'The client opens a session, lists the tools and calls some of them: with progress and a log message, and with errors.',
    async play({ connect, note }) {
      note('The handshake.')
      const client = await connect(restaurant(), { era })
      note('The client lists the tools.')
      await client.listTools().all()
      note('A tool reports progress and logs.')
      await client.callTool('add', { a: 1, b: 2 }, { onProgress: () => {} })
      note('A call with invalid arguments.')
      await client.callTool('add', { a: 'one', b: 2 })
      note('A tool fails with a message for the model.')
      await client.callTool('refuse')
      note('A tool throws an unexpected error, which is masked.')
      await client.callTool('break')
      note('An unknown tool.')
      await catchError(() => client.callTool('nope'))
      note('An unknown resource.')
      await catchError(() => client.readResource('menu://nope'))
      note('The client sets the log level, and the log message is not sent.')
      await client.setLogLevel('error')
      await client.callTool('add', { a: 1, b: 2 })
      note('A ping.')
      await client.ping()
    },
  },

  'legacy-oldest': {
    title: 'Legacy: the oldest revision',
    about: 'The same server with a client of 2024-11-05: newer members are left out.',
    async play({ connect, note }) {
      const client = await connect(restaurant(), { era: '2024-11-05' })
      note('No titles, annotations or output schemas.')
      await client.listTools().all()
      note('No structured content, and no messages with progress.')
      await client.callTool('add', { a: 1, b: 2 }, { onProgress: () => {} })
      note('The client does not support elicitation.')
      await client.callTool('book', { seats: 2 })
    },
  },

  'legacy-elicitation': {
    title: 'Legacy: elicitation in the middle of a call',
    about: 'The server sends elicitation requests during a call.',
    async play({ connect, note }) {
      const answers = [{ name: 'Ada' }, { sure: true }]
      const client = await connect(restaurant(), {
        era,
        onElicit: () => ({ action: 'accept', content: answers.shift() ?? {} }),
      })
      note('The user accepts two forms.')
      await client.callTool('book', { seats: 2 })
      note('Another client, whose user declines.')
      const other = await connect(restaurant(), { era, onElicit: () => ({ action: 'decline' }) })
      await other.callTool('book', { seats: 2 })
    },
  },

  'legacy-changes': {
    title: 'Legacy: changes',
    about: 'A session receives changes of lists and updates of subscribed resources.',
    async play({ connect, note, rest }) {
      const server = restaurant()
      const client = await connect(server, { era, onChange: () => {} })
      note('The client subscribes.')
      await client.subscribe('menu://today')
      note('The resource changes twice in quick succession.')
      server.resourceUpdated('menu://today')
      server.resourceUpdated('menu://today')
      await rest()
      note('A tool is added, and a prompt is removed.')
      server.tool('pay', {}, () => 'paid')
      server.removePrompt('order')
      await rest()
      note('The client unsubscribes and receives no further updates.')
      await client.unsubscribe('menu://today')
      await rest()
      server.resourceUpdated('menu://today')
      await rest()
    },
  },

  'legacy-cancel': {
    title: 'Legacy: a call is cancelled',
    about: 'The client cancels a call: the server stops it and sends no further messages about it.',
    async play({ connect, note, rest }) {
      const client = await connect(restaurant(), { era })
      const stop = new AbortController()
      note('A call that does not end.')
      const call = catchError(() => client.callTool('wait', {}, { signal: stop.signal }))
      await rest()
      note('The client cancels it and continues with the session.')
      stop.abort()
      await call
      await client.ping()
    },
  },
}
