/** A raw client in memory that sends messages of the test and records all messages of the server. */
import {
  createDuplex,
  type DuplexOptions,
  type JsonObject,
  type Message,
  type RequestId,
  type Responder,
  type ResponseMessage,
} from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'

export const MODERN = '2026-07-28'
export const KEY = 'io.modelcontextprotocol/'

/** The metadata of a modern request. */
export function meta(capabilities: object = {}, more: object = {}): JsonObject {
  return { [`${KEY}protocolVersion`]: MODERN, [`${KEY}clientCapabilities`]: capabilities, ...more }
}

export interface Answer {
  readonly id?: RequestId
  readonly result?: JsonObject
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject }
}

export interface RawClient {
  /** All messages of the server. */
  readonly received: readonly Message[]
  send(message: object): void
  /** Sends a request without metadata, and resolves to its response. */
  ask(method: string, params?: object, id?: RequestId): Promise<Answer>
  /** Sends a request with modern metadata. */
  call(method: string, params?: object, capabilities?: object): Promise<Answer>
  /** Resolves to the response to the request with this id. */
  responseTo(id: RequestId): Promise<Answer>
  /** Returns the methods of received notifications, without their prefix. */
  notificationMethods(): string[]
  close(): Promise<void>
}

export interface RawClientOptions extends Omit<DuplexOptions, 'responder'> {
  /** Answers requests of the server. Default: no response. */
  readonly answer?: ((method: string, params: JsonObject) => object) | undefined
}

const open: RawClient[] = []

/** Closes all clients. */
export async function closeAll(): Promise<void> {
  for (const client of open.splice(0)) await client.close()
}

/** Waits until pending messages are handled. */
export function turn(ms = 2): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

export function connectRawClient(responder: Responder, { answer, ...options }: RawClientOptions = {}): RawClient {
  const [clientEnd, serverEnd] = createChannelPair()
  createDuplex(serverEnd, { responder, ...options })
  const received: Message[] = []
  const waiting = new Map<RequestId, (answer: Answer) => void>()
  let lastId = 0
  void clientEnd.receive((item) => {
    const message = item as Message
    received.push(message)
    if ('method' in message) {
      if ('id' in message && answer !== undefined) {
        void clientEnd.send({
          jsonrpc: '2.0',
          id: message.id,
          result: answer(message.method, message.params ?? {}) as never,
        })
      }
      return
    }
    waiting.get((message as ResponseMessage).id as RequestId)?.(message as Answer)
  })
  const client: RawClient = {
    received,
    send: (message) => void clientEnd.send({ jsonrpc: '2.0', ...message } as Message),
    ask(method, params, id = ++lastId) {
      const answered = client.responseTo(id)
      client.send(params === undefined ? { id, method } : { id, method, params })
      return answered
    },
    call: (method, params = {}, capabilities = {}) => client.ask(method, { ...params, _meta: meta(capabilities) }),
    responseTo: (id) => new Promise((resolve) => void waiting.set(id, resolve)),
    notificationMethods: () =>
      received.flatMap((each) => ('method' in each ? [each.method.replace('notifications/', '')] : [])),
    close: () => clientEnd.close(),
  }
  open.push(client)
  return client
}

/** Connects a raw client and makes the handshake. */
export async function connectLegacyRawClient(
  responder: Responder,
  protocolVersion = '2025-11-25',
  { capabilities = {}, ...options }: RawClientOptions & { capabilities?: object } = {},
): Promise<RawClient> {
  const client = connectRawClient(responder, options)
  await client.ask('initialize', { protocolVersion, capabilities, clientInfo: { name: 'wire', version: '1' } })
  client.send({ method: 'notifications/initialized' })
  await turn()
  return client
}
