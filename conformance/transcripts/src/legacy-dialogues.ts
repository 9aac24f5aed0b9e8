/** What is said with the handshake. */

import { caught } from '@mcpx/testing'
import { restaurant } from './server.ts'
import type { Dialogue } from './stage.ts'

const era = '2025-11-25'

export const legacyDialogues: Readonly<Record<string, Dialogue>> = {
  'legacy-call': {
    title: 'Legacy: handshake, list and call',
    about:
      'A session is opened, the tools are listed, and some are called: with progress and a log message, and failing.',
    async play({ connect, note }) {
      note('The handshake.')
      const client = await connect(restaurant(), { era })
      note('The tools are listed.')
      await client.listTools().all()
      note('A tool is called; it tells of its progress, and logs.')
      await client.callTool('add', { a: 1, b: 2 }, { onProgress: () => {} })
      note('A tool is called with what it cannot take.')
      await client.callTool('add', { a: 'one', b: 2 })
      note('A tool fails in words for the model.')
      await client.callTool('refuse')
      note('A tool fails in words for nobody.')
      await client.callTool('break')
      note('There is no such tool.')
      await caught(() => client.callTool('nope'))
      note('There is no such resource.')
      await caught(() => client.readResource('menu://nope'))
      note('The level of log messages is set; there is one less.')
      await client.setLogLevel('error')
      await client.callTool('add', { a: 1, b: 2 })
      note('Is anybody there?')
      await client.ping()
    },
  },

  'legacy-oldest': {
    title: 'Legacy: the oldest revision',
    about: 'The same server, to a client of 2024-11-05: what that revision does not have is left out.',
    async play({ connect, note }) {
      const client = await connect(restaurant(), { era: '2024-11-05' })
      note('No titles, no hints, no output schema.')
      await client.listTools().all()
      note('No structured content, and no words with the progress.')
      await client.callTool('add', { a: 1, b: 2 }, { onProgress: () => {} })
      note('This client cannot be asked anything.')
      await client.callTool('book', { seats: 2 })
    },
  },

  'legacy-elicitation': {
    title: 'Legacy: elicitation in the middle of a call',
    about: 'The server asks by requests of its own while its answer is waited for.',
    async play({ connect, note }) {
      const answers = [{ name: 'Ada' }, { sure: true }]
      const client = await connect(restaurant(), {
        era,
        onElicit: () => ({ action: 'accept', content: answers.shift() ?? {} }),
      })
      note('The user is asked twice, and accepts.')
      await client.callTool('book', { seats: 2 })
      note('Another client, whose user declines.')
      const other = await connect(restaurant(), { era, onElicit: () => ({ action: 'decline' }) })
      await other.callTool('book', { seats: 2 })
    },
  },

  'legacy-changes': {
    title: 'Legacy: changes',
    about: 'A session is told of lists that change, and of resources that it subscribed to.',
    async play({ connect, note, rest }) {
      const server = restaurant()
      const client = await connect(server, { era, onChange: () => {} })
      note('The client subscribes.')
      await client.subscribe('menu://today')
      note('The resource changes, twice at once.')
      server.resourceUpdated('menu://today')
      server.resourceUpdated('menu://today')
      await rest()
      note('A tool comes, and a prompt goes.')
      server.tool('pay', {}, () => 'paid')
      server.removePrompt('order')
      await rest()
      note('The client unsubscribes; the resource changes unheard.')
      await client.unsubscribe('menu://today')
      await rest()
      server.resourceUpdated('menu://today')
      await rest()
    },
  },

  'legacy-cancel': {
    title: 'Legacy: a call is cancelled',
    about: 'The client gives up a call: the server stops, and says nothing more about it.',
    async play({ connect, note, rest }) {
      const client = await connect(restaurant(), { era })
      const stop = new AbortController()
      note('A call that takes for ever.')
      const call = caught(() => client.callTool('wait', {}, { signal: stop.signal }))
      await rest()
      note('It is given up, and the session goes on.')
      stop.abort()
      await call
      await client.ping()
    },
  },
}
