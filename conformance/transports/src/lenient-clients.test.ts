/** The client accepts the same protocol violations of servers as other clients do, and reports each kind once. */

import { PassThrough } from 'node:stream'
import { connect, type Elicitation } from '@mcpx/client'
import {
  type ConnectionError,
  type Exchange,
  type JsonObject,
  type RequestMessage,
  type Responder,
  type ResponseMessage,
  resultMessage,
} from '@mcpx/protocol'
import { http } from '@mcpx/transport-http/client'
import { overStreams, serveStdio } from '@mcpx/transport-stdio'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LEGACY, serve } from './connections.fixture.ts'

interface Deviation {
  /** The revision that the server selects. Default: the newest revision of the legacy era. */
  readonly revision?: string
  answer(message: RequestMessage, exchange: Exchange): JsonObject | Promise<JsonObject>
  /** The call, which the client repeats. */
  use(client: Awaited<ReturnType<typeof connect>>): Promise<unknown>
  readonly result: unknown
  /** The one warning. */
  readonly warning: RegExp
}

const tool = { name: 'add', inputSchema: { type: 'object' } }
const asking = (params: JsonObject) => async (_: RequestMessage, exchange: Exchange) => ({
  content: [],
  structuredContent: (await exchange.session?.request('elicitation/create', params)) as JsonObject,
})
const callAdd: Deviation['use'] = (client) => client.callTool('add')
const accepted = { structuredContent: { action: 'accept' } }

const deviations: Readonly<Record<string, Deviation>> = {
  'a result without content': {
    answer: () => ({ structuredContent: { sum: 3 } }),
    use: callAdd,
    result: { content: [], structuredContent: { sum: 3 } },
    warning: /^The result of tools\/call "add" has no content: \[\] is used instead$/,
  },
  'an empty cursor at the end of a list': {
    answer: () => ({ tools: [tool], nextCursor: '' }),
    use: (client) => client.listTools().all(),
    result: [tool],
    warning: /^tools\/list: the last page has an empty nextCursor: expected none at the end of a list$/,
  },
  'a draft as its revision': {
    revision: '2025-01-01',
    answer: () => ({ content: [] }),
    use: callAdd,
    result: { content: [] },
    warning: /^The server selected the unknown protocol version "2025-01-01": 2024-11-05 is used instead$/,
  },
  'an elicitation in a revision without elicitations': {
    revision: '2025-03-26',
    answer: asking({ message: 'Who?', requestedSchema: { type: 'object', properties: {} } }),
    use: callAdd,
    result: accepted,
    warning: /^elicitation\/create was answered although revision 2025-03-26 does not have it$/,
  },
  'a URL without an elicitationId': {
    answer: asking({ mode: 'url', message: 'Pay', url: 'https://pay.example' }),
    use: callAdd,
    result: accepted,
    warning: /^elicitation\/create was answered although .* params\.elicitationId: expected string, got nothing$/,
  },
  'a change that it did not declare': {
    answer: async (_, exchange) => {
      await exchange.notify('notifications/prompts/list_changed')
      return { content: [] }
    },
    use: callAdd,
    result: { content: [] },
    warning:
      /^The server sent notifications\/prompts\/list_changed, but did not declare the capability prompts\.listChanged$/,
  },
  'ids as strings': {
    answer: () => ({ content: [] }),
    use: callAdd,
    result: { content: [] },
    warning: /^The peer sends ids of requests back as strings: expected the number \d+, got a string$/,
  },
}

function createDeviating({ revision = LEGACY, answer }: Deviation, hasStringIds: boolean): Responder {
  return {
    async respond(message, exchange): Promise<ResponseMessage | undefined> {
      if (!('id' in message)) return undefined
      const id = hasStringIds ? String(message.id) : message.id
      if (message.method !== 'initialize') return resultMessage(id, await answer(message, exchange))
      await exchange.session?.update((state) => void Object.assign(state, { revision, initialized: true }))
      const serverInfo = { name: 'lenient', version: '1' }
      return resultMessage(id, { protocolVersion: revision, capabilities: { tools: {} }, serverInfo })
    },
  }
}

/** Serves on two streams of this process. */
function openStreams(responder: Responder) {
  const [toServer, toClient] = [new PassThrough(), new PassThrough()]
  const serving = serveStdio(responder, { input: toServer, output: toClient, drainTimeout: 0 })
  onTestFinished(() => serving.close())
  return { input: toClient, output: toServer }
}

describe.each(['HTTP', 'streams'])('a client over %s', (transport) => {
  it.each(Object.entries(deviations))('accepts %s, with one warning', async (name, deviation) => {
    const responder = createDeviating(deviation, name === 'ids as strings')
    const target = transport === 'HTTP' ? http((await serve(responder)).url) : overStreams(() => openStreams(responder))
    const warnings: ConnectionError[] = []
    await using client = await connect(target, {
      era: 'legacy',
      cache: false,
      onWarning: (warning) => void warnings.push(warning as ConnectionError),
      onElicit: (_: Elicitation) => ({ action: 'accept', content: {} }),
    })
    for (let count = 0; count < 3; count++)
      expect(await deviation.use(client)).toMatchObject(deviation.result as object)
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringMatching(deviation.warning)])
    expect(warnings[0]?.hint).toMatch(/report this to the author of the (?:server|peer)\.$/)
  })
})
