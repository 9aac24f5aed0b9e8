/** A client that is nothing but a pipe: it sends what a test writes, and keeps every message as it came. */
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

export interface Wire {
  /** All that came from the other side. */
  readonly heard: readonly Message[]
  send(message: object): void
  /** Sends a request as it is, and resolves to its answer. */
  ask(method: string, params?: object, id?: RequestId): Promise<Answer>
  /** Sends a request with the metadata of a modern one. */
  call(method: string, params?: object, capabilities?: object): Promise<Answer>
  /** Resolves to the answer to the request with this id. */
  answerTo(id: RequestId): Promise<Answer>
  /** The notifications that came, without their prefix. */
  told(): string[]
  close(): Promise<void>
}

export interface WireOptions extends Omit<DuplexOptions, 'responder'> {
  /** Answers what the other side asks; without it, nothing is answered. */
  readonly answer?: ((method: string, params: JsonObject) => object) | undefined
}

const open: Wire[] = []

/** Closes every wire. */
export async function closeAll(): Promise<void> {
  for (const wire of open.splice(0)) await wire.close()
}

/** Lets everything happen that is about to. */
export function turn(ms = 2): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

export function connectWire(responder: Responder, { answer, ...options }: WireOptions = {}): Wire {
  const [near, far] = createChannelPair()
  createDuplex(far, { responder, ...options })
  const heard: Message[] = []
  const waiting = new Map<RequestId, (answer: Answer) => void>()
  let lastId = 0
  void near.receive((item) => {
    const message = item as Message
    heard.push(message)
    if ('method' in message) {
      if ('id' in message && answer !== undefined) {
        void near.send({
          jsonrpc: '2.0',
          id: message.id,
          result: answer(message.method, message.params ?? {}) as never,
        })
      }
      return
    }
    waiting.get((message as ResponseMessage).id as RequestId)?.(message as Answer)
  })
  const wire: Wire = {
    heard,
    send: (message) => void near.send({ jsonrpc: '2.0', ...message } as Message),
    ask(method, params, id = ++lastId) {
      const answered = wire.answerTo(id)
      wire.send(params === undefined ? { id, method } : { id, method, params })
      return answered
    },
    call: (method, params = {}, capabilities = {}) => wire.ask(method, { ...params, _meta: meta(capabilities) }),
    answerTo: (id) => new Promise((resolve) => void waiting.set(id, resolve)),
    told: () => heard.flatMap((each) => ('method' in each ? [each.method.replace('notifications/', '')] : [])),
    close: () => near.close(),
  }
  open.push(wire)
  return wire
}

/** A wire whose session is open. */
export async function connectLegacy(
  responder: Responder,
  protocolVersion = '2025-11-25',
  { capabilities = {}, ...options }: WireOptions & { capabilities?: object } = {},
): Promise<Wire> {
  const wire = connectWire(responder, options)
  await wire.ask('initialize', { protocolVersion, capabilities, clientInfo: { name: 'wire', version: '1' } })
  wire.send({ method: 'notifications/initialized' })
  await turn()
  return wire
}
