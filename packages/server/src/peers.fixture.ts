/** Peers of each revision, for the tests of the eras. */

import {
  type Context,
  createDuplex,
  type Duplex,
  eraOf,
  errorMessage,
  type JsonObject,
  type NotificationMessage,
  type Responder,
  type Revision,
  type RpcError,
  resultMessage,
  withEnvelope,
} from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { createServer, type ServerOptions } from './index.ts'

const capabilities = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }

/** A result or an error, as far as the tests look into it. */
export interface Answered {
  readonly content: readonly { readonly text: string }[]
  readonly tools?: unknown
  readonly code?: number
  readonly message?: string
  readonly resultType?: string
  readonly requestState?: string
  readonly inputRequests?: Record<string, { readonly method: string; readonly params?: JsonObject }>
  readonly isError?: boolean
  readonly protocolVersion?: string
  readonly serverInfo?: { readonly title?: string }
  readonly _meta?: unknown
}

export type Answers = Record<string, (params: JsonObject) => unknown>

export interface Peer {
  readonly heard: NotificationMessage[]
  /** The result, or the error that was answered. */
  call(method: string, params?: JsonObject, options?: { progress?: boolean; signal?: AbortSignal }): Promise<Answered>
  raw(method: string, params?: JsonObject): Promise<Answered>
  notify: Duplex['notify']
  close(): Promise<void>
}

const open: Peer[] = []
/** Closes every peer that was connected. */
export async function closeAll(): Promise<void> {
  for (const peer of open.splice(0)) await peer.close()
}

/** A client of one revision that answers what it is asked; in the modern era it goes round until the call is complete. */
export async function connect(
  server: Responder,
  revision: Revision,
  answers: Answers = {},
  declared: object = capabilities,
): Promise<Peer> {
  const heard: NotificationMessage[] = []
  const responder: Responder = {
    async respond(message) {
      if (!('id' in message)) return void heard.push(message)
      try {
        return resultMessage(message.id, (await answers[message.method]?.(message.params ?? {})) as object)
      } catch (error) {
        return errorMessage(message.id, error as RpcError)
      }
    },
  }
  const [near, far] = createChannelPair()
  createDuplex(far, { responder: server })
  const duplex = createDuplex(near, { responder })
  const isLegacy = eraOf(revision) === 'legacy'
  const envelope = {
    protocolVersion: revision,
    clientCapabilities: declared as never,
    clientInfo: { name: 'test', version: '1' },
  }
  const raw: Peer['raw'] = (method, params = {}) =>
    duplex.request(method, params).catch((error) => error) as Promise<Answered>
  const call: Peer['call'] = async (method, params = {}, { progress, signal } = {}) => {
    const options = { signal, ...(progress && { onNotification: (n: NotificationMessage) => void heard.push(n) }) }
    for (let round = 0; ; round++) {
      const sent = isLegacy ? params : withEnvelope(params, envelope)
      const result = (await duplex.request(method, sent, options).catch((error) => error)) as Answered
      if (result?.resultType !== 'input_required' || round > 9) return result
      const given = await Promise.all(
        Object.entries(result.inputRequests ?? {}).map(async ([key, asked]) => [
          key,
          await answers[asked.method]?.(asked.params ?? {}),
        ]),
      )
      const { inputResponses, requestState, ...original } = params
      params = {
        ...original,
        inputResponses: Object.fromEntries(given),
        ...(result.requestState && { requestState: result.requestState }),
      }
    }
  }
  if (isLegacy) {
    await duplex.request('initialize', {
      protocolVersion: revision,
      capabilities: declared,
      clientInfo: envelope.clientInfo,
    })
    await duplex.notify('notifications/initialized')
  }
  const peer: Peer = { heard, call, raw, notify: duplex.notify.bind(duplex), close: () => duplex.close() }
  open.push(peer)
  return peer
}

/** A server of one tool. */
export function oneTool(run: (args: JsonObject, ctx: Context) => unknown, options: ServerOptions = {}) {
  return createServer(
    { name: 'test', version: '1' },
    {
      ...options,
      listTools: () => ({ tools: [{ name: 't', inputSchema: { type: 'object' } }] }),
      callTool: async ({ arguments: args = {} }, ctx) => (await run(args, ctx)) as never,
    },
  )
}

export const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) ?? '' }] })

/** A peer that has said nothing yet. */
export async function connectRaw(server: Responder): Promise<Peer> {
  const [near, far] = createChannelPair()
  createDuplex(far, { responder: server })
  const duplex = createDuplex(near)
  const raw: Peer['raw'] = (method, params) =>
    duplex.request(method, params).catch((error) => error) as Promise<Answered>
  const peer: Peer = { heard: [], call: raw, raw, notify: duplex.notify.bind(duplex), close: () => duplex.close() }
  open.push(peer)
  return peer
}
