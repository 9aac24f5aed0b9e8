/** A client of the newest revision that sees every message, for the tests of tasks. */

import {
  type AuthInfo,
  createDuplex,
  type JsonObject,
  type NotificationMessage,
  type Responder,
  TASKS_EXTENSION,
  withEnvelope,
} from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'

/** A result or an error, as far as the tests look into it. */
export interface Answer {
  readonly taskId: string
  readonly status?: string
  readonly statusMessage?: string
  readonly resultType?: string
  readonly requestState?: string
  readonly inputRequests?: Record<string, { readonly method: string; readonly params?: JsonObject }>
  readonly result?: { readonly content: readonly { readonly text: string }[]; readonly isError?: boolean }
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject }
  readonly content?: readonly { readonly text: string }[]
  readonly ttlMs?: number
  readonly code?: number
  readonly message?: string
  readonly data?: JsonObject
  readonly isError?: boolean
}

export interface Peer {
  readonly heard: NotificationMessage[]
  /** Sends a request. Returns the result, or the error. */
  send(method: string, params?: JsonObject, options?: { signal?: AbortSignal }): Promise<Answer>
  /** Calls a tool. */
  call(name: string, args?: JsonObject, more?: JsonObject): Promise<Answer>
  get(taskId: string): Promise<Answer>
  update(taskId: string, inputResponses: JsonObject): Promise<Answer>
  cancel(taskId: string): Promise<Answer>
  /** Polls until the task has this status. */
  until(taskId: string, ...status: string[]): Promise<Answer>
}

const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {}, extensions: { [TASKS_EXTENSION]: {} } }

const opened: { close(): Promise<void> }[] = []

export async function closePeers(): Promise<void> {
  for (const duplex of opened.splice(0)) await duplex.close()
}

export interface PeerOptions {
  /** Default: all, with the extension for tasks. */
  readonly capabilities?: JsonObject
  readonly auth?: AuthInfo
}

export function connectPeer(server: Responder, { capabilities = ALL, auth }: PeerOptions = {}): Peer {
  const heard: NotificationMessage[] = []
  const [near, far] = createChannelPair()
  createDuplex(far, { responder: server, auth })
  const responder: Responder = {
    respond(message) {
      if (!('id' in message)) heard.push(message)
      return undefined
    },
  }
  const duplex = createDuplex(near, { responder })
  opened.push(duplex)
  const envelope = { protocolVersion: '2026-07-28', clientCapabilities: capabilities }
  const send: Peer['send'] = (method, params = {}, options = {}) =>
    duplex
      .request(method, withEnvelope(params, envelope), {
        ...options,
        onNotification: (notification) => void heard.push(notification),
      })
      .catch((error) => error) as Promise<Answer>
  const get: Peer['get'] = (taskId) => send('tasks/get', { taskId })
  return {
    heard,
    send,
    call: (name, args = {}, more = {}) => send('tools/call', { name, arguments: args, ...more }),
    get,
    update: (taskId, inputResponses) => send('tasks/update', { taskId, inputResponses }),
    cancel: (taskId) => send('tasks/cancel', { taskId }),
    async until(taskId, ...status) {
      for (let n = 0; n < 400; n++) {
        const task = await get(taskId)
        if (task.code !== undefined) throw task
        if (status.includes(task.status ?? '')) return task
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      throw new Error(`The task is not ${status.join(' or ')}: ${JSON.stringify(await get(taskId))}`)
    },
  }
}
