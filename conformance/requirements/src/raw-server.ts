/** A server that is nothing but a pipe: it keeps every message of a client as it came, and answers as a test says. */
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
import { KEY, MODERN } from './wire.ts'

export type Give = (params: JsonObject, request: RequestMessage) => object | undefined | Promise<object | undefined>

export interface RawServer extends Connector {
  readonly requests: RequestMessage[]
  readonly notifications: NotificationMessage[]
  readonly responses: ResponseMessage[]
  /** How often it was connected to. */
  connections: number
  /** The requests of one method. */
  asked(method: string): RequestMessage[]
  /** Sends a message to the client. */
  send(message: object): void
  /** Breaks the connection. */
  cut(): Promise<void>
  /** Whether the client has left the newest connection open. */
  isOpen(): boolean
}

/** Its capabilities are everything, and `answers` give results; without one, there is no answer. */
export function createRawServer(answers: Readonly<Record<string, Give>> = {}): RawServer {
  const listChanged = true
  const capabilities = {
    logging: {},
    completions: {},
    tools: { listChanged },
    prompts: { listChanged },
    resources: { listChanged, subscribe: true },
  }
  const give: Readonly<Record<string, Give>> = {
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
    asked: (method) => server.requests.filter((each) => each.method === method),
    send: (message) => void end?.send(wireOf(message)),
    cut: async () => end?.close(),
    isOpen: () => isOpen,
    connect({ responder, onWarning: report }): Connection {
      const [here, there] = createChannelPair()
      end = there
      server.connections += 1
      isOpen = true
      const ended = there.receive(async (item) => {
        const message = item as Message
        if (!('method' in message)) return void server.responses.push(message)
        if (!('id' in message)) return void server.notifications.push(message)
        server.requests.push(message)
        void Promise.resolve(give[message.method]?.(message.params ?? {}, message)).then((result) => {
          if (result === undefined) return
          const isError = 'code' in result
          const answer = isError ? { error: result } : { result: { resultType: 'complete', ...result } }
          void there.send({ jsonrpc: '2.0', id: message.id, ...answer } as Message)
        })
      })
      void ended.then(() => {
        isOpen = false
      })
      let revision: string | undefined
      const duplex = createDuplex(here, {
        responder,
        onWarning: report,
        takesBatches: () => revision === BATCH_REVISION,
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

/** As it arrives once it was read: refused, if it is no message. */
function wireOf(message: object): Message {
  return decode(JSON.stringify(Array.isArray(message) ? message : { jsonrpc: '2.0', ...message })) as Message
}

const SELF = { name: 'raw', version: '1' }

/** What asks for input. */
export const QUESTION = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Name?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
  },
}
