/** The oldest HTTP wire, with two endpoints: everything comes on one stream, and is asked at the URL that it names first. */

import {
  ConnectionError,
  type Decoded,
  type Message,
  Refusal,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
} from '@mcpx/protocol'
import { EVENTS_TYPE } from '../../headers.ts'
import { readStream } from '../event-stream.ts'
import { post, refuseUnlessTaken } from '../post.ts'
import type { LegacyHost } from './legacy-answers.ts'
import { routeLegacy } from './legacy-routing.ts'

export interface LegacySse {
  ask(message: RequestMessage, signal: AbortSignal): Promise<ResponseMessage>
  tell(message: Message, signal: AbortSignal): Promise<void>
}

/** How long a server may take to name its endpoint, in ms. */
const ENDPOINT_TIMEOUT = 10_000

interface Waiter {
  readonly resolve: (answer: ResponseMessage) => void
  readonly reject: (error: Error) => void
}

/** Resolves to nothing when the server does not speak this wire. */
export async function openLegacySse(host: LegacyHost, signal: AbortSignal): Promise<LegacySse | undefined> {
  const stop = new AbortController()
  const cancel = () => stop.abort()
  const timer = setTimeout(cancel, ENDPOINT_TIMEOUT)
  signal.addEventListener('abort', cancel)
  host.closing.addEventListener('abort', cancel)
  const waiting = new Map<RequestId, Waiter>()
  try {
    const response = await host.carry({ method: 'GET', headers: { accept: EVENTS_TYPE }, signal: stop.signal })
    const isStream = response.ok && response.headers.get('content-type')?.startsWith(EVENTS_TYPE)
    if (!isStream) {
      cancel()
      return undefined
    }
    const endpoint = await readEndpoint(host, response, { waiting, signal: stop.signal })
    if (endpoint === undefined) cancel()
    return endpoint && createWire(host, endpoint, waiting)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  }
}

interface Stream {
  readonly waiting: Map<RequestId, Waiter>
  readonly signal: AbortSignal
}

/** Resolves to the endpoint once it is named, and reads on; to nothing when the stream ends before. */
function readEndpoint(host: LegacyHost, response: Response, { waiting, signal }: Stream): Promise<URL | undefined> {
  return new Promise((resolve, reject) => {
    let isOpen = false
    const onMessage = (item: Decoded): void => {
      if (Array.isArray(item)) for (const each of item) onMessage(each)
      else if (item instanceof Refusal) refuse(host, waiting, item)
      else receive(host, waiting, item)
    }
    const onOther = ({ event, data }: { event?: string; data: string }) => {
      if (event !== 'endpoint' || isOpen) return
      resolve(endpointOf(host, data))
      isOpen = true
    }
    void readStream(response.body, host.settings, { cursor: {}, onMessage, onOther, signal })
      .catch((error: unknown) => (isOpen ? error : reject(error)))
      .then((cause) => {
        resolve(undefined)
        const hint = 'Connect again; what was asked may have been done.'
        const error = new ConnectionError('closed', "The server's stream has ended", { retryable: true, hint, cause })
        if (isOpen) host.end(error)
        for (const { reject } of waiting.values()) reject(error)
      })
  })
}

/** Where to ask. Credentials go with each request, so it must lie on the server's own origin. */
function endpointOf({ settings }: LegacyHost, data: string): URL {
  const hint = 'Tell the author of the server.'
  if (!URL.canParse(data, settings.url.href)) {
    throw new ConnectionError('invalid-message', 'The server names an endpoint that is no URL', { hint })
  }
  const endpoint = new URL(data, settings.url)
  endpoint.username = endpoint.password = endpoint.hash = ''
  if (endpoint.origin === settings.url.origin) return endpoint
  throw new ConnectionError('refused', `The server names an endpoint of another origin, ${endpoint.origin}`, { hint })
}

function receive(host: LegacyHost, waiting: Map<RequestId, Waiter>, message: Message): void {
  const waiter = 'method' in message || message.id === undefined ? undefined : waiting.get(message.id)
  if (waiter === undefined) routeLegacy(host, message)
  else waiter.resolve(message as ResponseMessage)
}

function refuse(host: LegacyHost, waiting: Map<RequestId, Waiter>, { kind, id, error }: Refusal): void {
  const waiter = id === undefined || kind === 'request' ? undefined : waiting.get(id)
  if (waiter === undefined) host.report(error)
  else waiter.reject(new ConnectionError('invalid-message', `The answer was refused. ${error.message}`))
}

function createWire(host: LegacyHost, endpoint: URL, waiting: Map<RequestId, Waiter>): LegacySse {
  async function tell(message: Message, signal: AbortSignal): Promise<void> {
    await refuseUnlessTaken(await post(host, message, {}, signal, endpoint), message)
  }
  return {
    tell,
    async ask(message, signal) {
      const { id } = message
      try {
        return await new Promise<ResponseMessage>((resolve, reject) => {
          waiting.set(id, { resolve, reject })
          signal.addEventListener('abort', () => reject(signal.reason), { once: true })
          tell(message, signal).catch(reject)
        })
      } finally {
        waiting.delete(id)
      }
    },
  }
}
