/** The dialogues of the modern era. */

import { withEnvelope } from '@mcpx/protocol'
import { catchError } from '@mcpx/testing'
import type { Dialogue } from './play-dialogue.ts'
import { restaurant } from './server.ts'

const era = '2026-07-28'

export const modernDialogues: Readonly<Record<string, Dialogue>> = {
  'modern-call': {
    title: 'Modern: discover, list and call',
    about: 'The client discovers the server, lists the tools and calls some of them.',
    async play({ connect, note }) {
      note('Discovery.')
      const client = await connect(restaurant(), { era })
      note('The client lists the tools.')
      await client.listTools().all()
      note('A tool reports progress and logs, because the request has a log level.')
      await client.callTool('add', { a: 1, b: 2 }, { onProgress: () => {}, logLevel: 'info' })
      note('Without a log level there is no log message.')
      await client.callTool('add', { a: 1, b: 2 })
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
    },
  },

  'modern-input-required': {
    title: 'Modern: a call that needs input, twice',
    about: 'The result is an input request: the client repeats the call with the answer and the sealed state.',
    async play({ connect, note }) {
      const answers = [{ name: 'Ada' }, { sure: true }]
      const client = await connect(restaurant(), {
        era,
        onElicit: () => ({ action: 'accept', content: answers.shift() ?? {} }),
      })
      note('A step runs before the first input request and is not repeated.')
      await client.callTool('book', { seats: 2 })
      note('Another client, which does not support elicitation.')
      const other = await connect(restaurant(), { era })
      await catchError(() => other.callTool('book', { seats: 2 }))
    },
  },

  'modern-listen': {
    title: 'Modern: changes',
    about: 'The server sends changes on the stream of one long request.',
    async play({ connect, note, rest }) {
      const server = restaurant()
      const client = await connect(server, { era })
      note('The client sends a filter; the server acknowledges the supported part.')
      const listening = client.listen({ toolsListChanged: true, resourceSubscriptions: ['menu://today'] })
      await listening.ready
      note('The resource changes.')
      server.resourceUpdated('menu://today')
      await rest()
      note('A tool is added; a prompt is removed, which is not in the filter.')
      server.tool('pay', {}, () => 'paid')
      server.removePrompt('order')
      await rest()
      note('The client ends the subscription.')
      listening.close()
      await rest()
      note('Another subscription, which the server ends.')
      const other = client.listen({ promptsListChanged: true })
      await other.ready
      server.close()
      await other.next()
    },
  },

  'modern-cancel': {
    title: 'Modern: a call is cancelled',
    about: 'Over stdio, a notification cancels a request.',
    async play({ connect, note, rest }) {
      const client = await connect(restaurant(), { era })
      const stop = new AbortController()
      note('A call that does not end.')
      const call = catchError(() => client.callTool('wait', {}, { signal: stop.signal }))
      await rest()
      note('The client cancels it.')
      stop.abort()
      await call
    },
  },

  'modern-errors': {
    title: 'Modern: rejected requests',
    about: 'Requests with one error each, sent to a server without the legacy era.',
    async play({ raw, note }) {
      const peer = raw(restaurant({ legacy: false }))
      const ask = (method: string, params?: object) => catchError(() => peer.request(method, params))
      const envelope = { protocolVersion: era, clientCapabilities: {} }
      note('A request without metadata.')
      await ask('tools/list')
      note('A request without capabilities.')
      await ask('tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': era } })
      note('A request with capabilities that are not an object.')
      await ask('tools/list', withEnvelope({}, { ...envelope, clientCapabilities: 7 as never }))
      note('An unknown revision.')
      await ask('tools/list', withEnvelope({}, { ...envelope, protocolVersion: '2030-01-01' }))
      note('A revision of the legacy era.')
      await ask('tools/list', withEnvelope({}, { ...envelope, protocolVersion: '2025-11-25' }))
      note('Unknown methods, and methods of the legacy era.')
      await ask('tools/nope', withEnvelope({}, envelope))
      await ask('ping', withEnvelope({}, envelope))
      await ask('initialize', withEnvelope({}, envelope))
      await ask('resources/subscribe', withEnvelope({ uri: 'menu://today' }, envelope))
      note('Invalid parameters.')
      await ask('tools/call', withEnvelope({}, envelope))
      await ask('resources/read', withEnvelope({ uri: 7 }, envelope))
      note('An unknown cursor.')
      await ask('tools/list', withEnvelope({ cursor: 'mine' }, envelope))
      note('Request state that the server did not seal.')
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
