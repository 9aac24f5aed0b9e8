/** What is said when every request describes itself. */

import { withEnvelope } from '@mcpx/protocol'
import { caught } from '@mcpx/testing'
import { restaurant } from './server.ts'
import type { Dialogue } from './stage.ts'

const era = '2026-07-28'

export const modernDialogues: Readonly<Record<string, Dialogue>> = {
  'modern-call': {
    title: 'Modern: discover, list and call',
    about: 'The server is asked what it is, the tools are listed, and some are called.',
    async play({ connect, note }) {
      note('Discovery.')
      const client = await connect(restaurant(), { era })
      note('The tools are listed.')
      await client.listTools().all()
      note('A tool is called; it tells of its progress, and logs, for the request says that it may.')
      await client.callTool('add', { a: 1, b: 2 }, { onProgress: () => {}, logLevel: 'info' })
      note('Without a level there is no log message.')
      await client.callTool('add', { a: 1, b: 2 })
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
    },
  },

  'modern-input-required': {
    title: 'Modern: a call that needs input, twice',
    about: 'The answer is a question: the call is sent again with what was answered and the sealed state of the call.',
    async play({ connect, note }) {
      const answers = [{ name: 'Ada' }, { sure: true }]
      const client = await connect(restaurant(), {
        era,
        onElicit: () => ({ action: 'accept', content: answers.shift() ?? {} }),
      })
      note('A step is done before the first question; it is not done again.')
      await client.callTool('book', { seats: 2 })
      note('Another client, which cannot be asked.')
      const other = await connect(restaurant(), { era })
      await caught(() => other.callTool('book', { seats: 2 }))
    },
  },

  'modern-listen': {
    title: 'Modern: changes',
    about: 'One long request, on whose stream the server tells of changes.',
    async play({ connect, note, rest }) {
      const server = restaurant()
      const client = await connect(server, { era })
      note('The client says what it wants to hear of; the server says what of that it follows.')
      const listening = client.listen({ toolsListChanged: true, resourceSubscriptions: ['menu://today'] })
      await listening.ready
      note('The resource changes.')
      server.resourceUpdated('menu://today')
      await rest()
      note('A tool comes; a prompt goes, unheard.')
      server.tool('pay', {}, () => 'paid')
      server.removePrompt('order')
      await rest()
      note('The client has heard enough.')
      listening.close()
      await rest()
      note('Another stream, which the server ends.')
      const other = client.listen({ promptsListChanged: true })
      await other.ready
      server.close()
      await other.next()
    },
  },

  'modern-cancel': {
    title: 'Modern: a call is cancelled',
    about: 'Over a pipe, a notification gives up a request.',
    async play({ connect, note, rest }) {
      const client = await connect(restaurant(), { era })
      const stop = new AbortController()
      note('A call that takes for ever.')
      const call = caught(() => client.callTool('wait', {}, { signal: stop.signal }))
      await rest()
      note('It is given up.')
      stop.abort()
      await call
    },
  },

  'modern-errors': {
    title: 'Modern: what is refused',
    about: 'Requests that are wrong in one way each, sent to a server that does not serve the legacy era.',
    async play({ raw, note }) {
      const peer = raw(restaurant({ legacy: false }))
      const ask = (method: string, params?: object) => caught(() => peer.request(method, params))
      const envelope = { protocolVersion: era, clientCapabilities: {} }
      note('A request that does not describe itself.')
      await ask('tools/list')
      note('One that forgets its capabilities.')
      await ask('tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': era } })
      note('One whose capabilities are no object.')
      await ask('tools/list', withEnvelope({}, { ...envelope, clientCapabilities: 7 as never }))
      note('A revision that nobody knows.')
      await ask('tools/list', withEnvelope({}, { ...envelope, protocolVersion: '2030-01-01' }))
      note('A revision of the other era.')
      await ask('tools/list', withEnvelope({}, { ...envelope, protocolVersion: '2025-11-25' }))
      note('Methods that there are not, or not any more.')
      await ask('tools/nope', withEnvelope({}, envelope))
      await ask('ping', withEnvelope({}, envelope))
      await ask('initialize', withEnvelope({}, envelope))
      await ask('resources/subscribe', withEnvelope({ uri: 'menu://today' }, envelope))
      note('Parameters that do not fit.')
      await ask('tools/call', withEnvelope({}, envelope))
      await ask('resources/read', withEnvelope({ uri: 7 }, envelope))
      note('A cursor that the server never gave.')
      await ask('tools/list', withEnvelope({ cursor: 'mine' }, envelope))
      note('State that the server never sealed.')
      await ask('tools/call', withEnvelope({ name: 'book', arguments: { seats: 2 }, requestState: 'mine' }, envelope))
      note('A handshake.')
      await ask('initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'c', version: '1' },
      })
    },
  },
}
