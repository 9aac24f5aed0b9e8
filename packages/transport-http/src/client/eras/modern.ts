/** The modern wire: each request is whole in itself, and headers repeat what it is about. */

import {
  ErrorCode,
  type JsonObject,
  type Message,
  type NotificationMessage,
  PROTOCOL_VERSION_KEY,
  type RequestMessage,
  type ResponseMessage,
} from '@mcpx/protocol'
import { readAnswer } from '../answer.ts'
import { createMirror, isCalledIn } from '../mirrored-headers.ts'
import { post, refuseUnlessTaken } from '../post.ts'
import { answerLost } from '../refusals.ts'
import type { Host, Wire } from './wire.ts'

/** How many pages of tools are looked at for one that the server and this side see differently. */
const MOST_PAGES = 100

export function createModern(host: Host): Wire {
  const { settings, report } = host
  const mirror = createMirror(report)
  let revision: string | undefined

  async function send(message: RequestMessage, signal: AbortSignal, headers = headersOf(message)) {
    const response = await post(host, message, headers, signal)
    const { id, method } = message
    const cursor = {}
    const take = (beside: Message) => hearBeside(beside, message)
    const answer = await readAnswer(response, settings, { id, method, signal, cursor, take, report })
    if (answer === undefined) throw answerLost(method, (cursor as { cut?: unknown }).cut)
    return answer
  }

  function headersOf(message: RequestMessage | NotificationMessage) {
    revision = revisionOf(message) ?? revision
    return mirror.headersOf(message, revision)
  }

  /** All that comes on the stream of a request is said about it. */
  function hearBeside(beside: Message, { id }: RequestMessage): void {
    if (!('method' in beside)) host.settle(beside)
    else if ('id' in beside) report(new Error(`A request by the server was ignored: ${beside.method.slice(0, 100)}`))
    else if (!host.hear(id, beside)) host.pass(beside)
  }

  /** Asks for the tools anew, until the one that is called has been seen. */
  async function refresh(call: RequestMessage, signal: AbortSignal): Promise<void> {
    const { progressToken: _, ..._meta } = (call.params?._meta ?? {}) as JsonObject
    let cursor: unknown
    for (let page = 0; page < MOST_PAGES; page++) {
      const asked = cursor === undefined ? { _meta } : { _meta, cursor }
      const list: RequestMessage = { jsonrpc: '2.0', id: host.nextId(), method: 'tools/list', params: asked }
      const answer = await send(list, signal)
      if ('error' in answer) return
      await mirror.learn(answer.result)
      cursor = answer.result.nextCursor
      if (typeof cursor !== 'string' || isCalledIn(answer.result, call)) return
    }
  }

  /** A call whose headers the server does not agree with is sent once more if its newest list says otherwise. */
  async function callAgain(call: RequestMessage, signal: AbortSignal, before: object, refusal: ResponseMessage) {
    await refresh(call, signal).catch(report)
    const headers = headersOf(call)
    if (JSON.stringify(headers) === JSON.stringify(before)) return refusal
    return { ...(await send({ ...call, id: host.nextId() }, signal, headers)), id: call.id }
  }

  return {
    async ask(message, signal) {
      const headers = headersOf(message)
      const answer = await send(message, signal, headers)
      if (message.method === 'tools/call' && isMismatch(answer)) return callAgain(message, signal, headers, answer)
      if (message.method !== 'tools/list' || 'error' in answer) return answer
      return { ...answer, result: await mirror.learn(answer.result) }
    },
    async tell(message, signal) {
      const headers = 'method' in message ? headersOf(message) : {}
      await refuseUnlessTaken(await post(host, message, headers, signal), message)
    },
  }
}

function revisionOf({ params }: RequestMessage | NotificationMessage): string | undefined {
  const revision = (params?._meta as JsonObject | undefined)?.[PROTOCOL_VERSION_KEY]
  return typeof revision === 'string' ? revision : undefined
}

function isMismatch(answer: ResponseMessage): boolean {
  return 'error' in answer && answer.error.code === ErrorCode.HeaderMismatch
}
