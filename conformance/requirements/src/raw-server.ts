/** A fake server in memory that records all messages of a client and answers with functions of the test. */
import {
  BATCH_REVISION,
  type Connection,
  type Connector,
  createDuplex,
  decode,
  type JsonObject,
  type Message,
  type NotificationMessage,
  type RequestMessage,
  type ResponseMessage,
} from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { KEY, MODERN } from './raw-client.ts'

export type AnswerHandler = (
  params: JsonObject,
  request: RequestMessage,
) => object | undefined | Promise<object | undefined>

export interface RawServer extends Connector {
  readonly requests: RequestMessage[]
  readonly notifications: NotificationMessage[]
  readonly responses: ResponseMessage[]
  /** The number of connections. */
  connections: number
  /** Returns the requests of one method. */
  requestsOf(method: string): RequestMessage[]
  /** Sends a message to the client. */
  send(message: object): void
  /** Cuts the connection. */
  cut(): Promise<void>
  /** Whether the newest connection is open. */
  isOpen(): boolean
}

/** Creates a server with all capabilities. `answers` return results; methods without an entry get no response. */
export function createRawServer(answers: Readonly<Record<string, AnswerHandler>> = {}): RawServer {
  const listChanged = true
  const capabilities = {
    logging: {},
    completions: {},
    tools: { listChanged },
    prompts: { listChanged },
    resources: { listChanged, subscribe: true },
  }
  const handlers: Readonly<Record<string, AnswerHandler>> = {
    'server/discover': () => ({ supportedVersions: [MODERN], capabilities, _meta: { [`${KEY}serverInfo`]: SELF } }),
    ...answers,
  }
  let end: { send(message: Message): unknown; close(): Promise<void> } | undefined
  let isOpen = false
  const server: RawServer = {
    requests: [],
    notifications: [],
    responses: [],
    connections: 0,
    requestsOf: (method) => server.requests.filter((each) => each.method === method),
    send: (message) => void end?.send(decodeMessage(message)),
    cut: async () => end?.close(),
    isOpen: () => isOpen,
    connect({ responder, onWarning }): Connection {
      const [clientEnd, serverEnd] = createChannelPair()
      end = serverEnd
      server.connections += 1
      isOpen = true
      const ended = serverEnd.receive(async (item) => {
        const message = item as Message
        if (!('method' in message)) return void server.responses.push(message)
        if (!('id' in message)) return void server.notifications.push(message)
        server.requests.push(message)
        void Promise.resolve(handlers[message.method]?.(message.params ?? {}, message)).then((result) => {
          if (result === undefined) return
          const isError = 'code' in result
          const answer = isError ? { error: result } : { result: { resultType: 'complete', ...result } }
          void serverEnd.send({ jsonrpc: '2.0', id: message.id, ...answer } as Message)
        })
      })
      void ended.then(() => {
        isOpen = false
      })
      let revision: string | undefined
      const duplex = createDuplex(clientEnd, {
        responder,
        onWarning,
        supportsBatches: () => revision === BATCH_REVISION,
      })
      return Object.assign(duplex, {
        negotiated(agreed: string) {
          revision = agreed
        },
      })
    },
  }
  return server
}

/** Encodes and decodes a message, so that the client receives it as from a transport. */
function decodeMessage(message: object): Message {
  return decode(JSON.stringify(Array.isArray(message) ? message : { jsonrpc: '2.0', ...message })) as Message
}

const SELF = { name: 'raw', version: '1' }

/** A form elicitation. */
export const INPUT_REQUEST = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Name?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
  },
}
