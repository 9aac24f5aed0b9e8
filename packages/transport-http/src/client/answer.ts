/** Finds the answer to one request in the response to its POST, be it JSON or a stream of events. */

import {
  ConnectionError,
  type Decoded,
  decode,
  type Message,
  Refusal,
  type RequestId,
  type ResponseMessage,
} from '@mcpx/protocol'
import { EVENTS_TYPE, JSON_TYPE } from '../headers.ts'
import { readText } from './body.ts'
import type { Cursor } from './event-stream.ts'
import type { Settings } from './options.ts'
import { answerLost, isAnswer, refusedBy } from './refusals.ts'

/** What is waited for, and what to do with everything else. */
export interface Awaited {
  readonly id: RequestId
  readonly method: string
  readonly signal: AbortSignal
  readonly cursor: Cursor
  /** Takes what comes beside the answer. */
  readonly take: (message: Message) => void
  readonly report: (problem: Error) => void
}

/**
 * Resolves to the answer, or to nothing when a stream ended before it. Rejects with `ConnectionError`: `refused` with
 * the status, `invalid-message` for what is no answer, `limit`, or `unreachable` when JSON was cut.
 */
export async function readAnswer(
  response: Response,
  settings: Settings,
  awaited: Awaited,
): Promise<ResponseMessage | undefined> {
  if (!response.ok) return readRefusal(response, settings, awaited)
  const type = mediaType(response)
  if (type === EVENTS_TYPE) return readStreamed(response, settings, awaited)
  if (type !== JSON_TYPE) throw await notAnAnswer(response, type, awaited)
  const text = await readText(response, settings.maxResponseSize).catch((error: unknown) => {
    throw error instanceof ConnectionError ? error : answerLost(awaited.method, error)
  })
  const answer = pick(decode(text), awaited)
  if (answer === undefined) throw noAnswerIn('the JSON', awaited)
  return answer
}

/** The type of a body without its parameters. */
function mediaType({ headers }: Response): string {
  return (headers.get('content-type')?.split(';')[0] ?? '').trim().toLowerCase()
}

/** Bodies of refusals larger than this are not looked at, in bytes. */
const MOST_OF_REFUSAL = 2 ** 20

async function readRefusal(response: Response, settings: Settings, awaited: Awaited): Promise<ResponseMessage> {
  const limit = Math.min(settings.maxResponseSize, MOST_OF_REFUSAL)
  const text = await readText(response, limit).catch(() => '')
  const said = decode(text)
  const error = !Array.isArray(said) && !(said instanceof Refusal) && 'error' in said ? said : undefined
  if (error !== undefined && isAnswer(response.status, error, awaited.id)) return { ...error, id: awaited.id }
  throw refusedBy(response, awaited.method, error)
}

/** How long a server may take to end a stream after the answer, in ms; a stream that ends can be used again. */
const LINGER = 1_000

/** Resolves with the answer at once; the rest of the stream is read until it ends. */
function readStreamed(response: Response, settings: Settings, awaited: Awaited): Promise<ResponseMessage | undefined> {
  return new Promise((resolve, reject) => {
    const stop = new AbortController()
    const { cursor, signal } = awaited
    const abort = () => stop.abort(signal.reason)
    let timer: ReturnType<typeof setTimeout> | undefined
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    function onMessage(item: Decoded): void {
      const answer = pick(item, awaited)
      if (answer === undefined || timer !== undefined) return
      timer = setTimeout(abort, LINGER)
      resolve(answer)
    }
    // Most answers are JSON: what reads streams is loaded with the first of them.
    void import('./event-stream.ts')
      .then(({ readStream }) => readStream(response.body, settings, { cursor, onMessage, signal: stop.signal }))
      .then((cut) => {
        cursor.cut = cut
        resolve(undefined)
      })
      .catch(reject)
      .then(() => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
      })
  })
}

/** The answer, if this is it; what it is not goes where it belongs. A refused message that may be it is thrown. */
function pick(item: Decoded, awaited: Awaited): ResponseMessage | undefined {
  if (Array.isArray(item)) {
    return item.map((each) => pick(each, awaited)).find((answer) => answer !== undefined)
  }
  if (item instanceof Refusal) {
    if (item.kind === 'request' || item.kind === 'notification') awaited.report(item.error)
    else if (item.id === undefined || item.id === awaited.id) throw unreadable(item, awaited)
    return undefined
  }
  // An error without an id speaks of the request that it answers: there is no other one here.
  const isIt = !('method' in item) && (item.id === awaited.id || item.id === undefined)
  if (isIt) return { ...item, id: awaited.id }
  awaited.take(item)
  return undefined
}

function unreadable({ error }: Refusal, { method }: Awaited): ConnectionError {
  const hint = 'The server does not speak JSON-RPC 2.0 as it should.'
  return new ConnectionError('invalid-message', `The answer to ${method} was refused. ${error.message}`, { hint })
}

function noAnswerIn(where: string, { method }: Awaited): ConnectionError {
  const hint = 'The server does not speak JSON-RPC 2.0 as it should.'
  return new ConnectionError('invalid-message', `There is no answer to ${method} in ${where} that came back`, { hint })
}

async function notAnAnswer(response: Response, type: string, awaited: Awaited): Promise<ConnectionError> {
  await response.body?.cancel().catch(() => {})
  const { status } = response
  if (status === 202 || status === 204) return noAnswerIn(`the empty body (HTTP status ${status})`, awaited)
  const got = type === '' ? 'no content type' : type.slice(0, 100)
  const message = `The answer to ${awaited.method} was refused: expected ${JSON_TYPE} or ${EVENTS_TYPE}, got ${got}`
  const hint = 'See that the URL names the endpoint of a server of the protocol.'
  return new ConnectionError('invalid-message', message, { hint })
}
