/** Records the dialogue of a client with a server, and replays it without the server. */

import {
  type Connection,
  ConnectionError,
  type Connector,
  type Exchange,
  type JsonObject,
  type RequestOptions,
  type Responder,
  redactSecrets,
} from '@mcpx/protocol'
import { firstDifference, isEqual } from '../check.ts'
import { errorOf, failureOf, observeConnector, type Step } from './observe.ts'

/** The format of transcripts, which `replayTranscript` checks. */
const FORMAT = 'mcpx transcript 1'

/** A recorded dialogue. It is plain JSON. */
export interface Transcript {
  /** The version of the format. */
  readonly format: string
  /** The steps, in order. */
  readonly steps: readonly Step[]
}

/** Options of `recordTranscript`. */
export interface RecordOptions {
  /**
   * Replaces values before they are stored, in addition to the secrets that are always replaced by `[redacted]`. Called
   * with the name and the value of each member, as the replacer of `JSON.stringify`. Default: replaces nothing.
   */
  readonly redact?: ((name: string, value: unknown) => unknown) | undefined
}

/**
 * Returns a connector that records all of its connections. `onSave` receives the whole transcript each time a
 * connection has ended. Members and texts that look like secrets are replaced by `[redacted]`.
 */
export function recordTranscript(
  connector: Connector,
  onSave: (transcript: Transcript) => void,
  { redact }: RecordOptions = {},
): Connector {
  const replacer = createReplacer(redact)
  const steps: Step[] = []
  return observeConnector(
    connector,
    (step) => void steps.push(copyOf(step, replacer)),
    () => onSave({ format: FORMAT, steps: [...steps] }),
  )
}

type Replacer = (name: string, value: unknown) => unknown

function createReplacer(redact: RecordOptions['redact']): Replacer {
  return redact === undefined ? redactSecrets : (name, value) => redactSecrets(name, redact(name, value))
}

/** Copies a step, because its objects belong to the client and the server. */
function copyOf(step: Step, replacer: Replacer): Step {
  return JSON.parse(JSON.stringify(step, replacer)) as Step
}

/** Members of parameters that differ between versions of the client, and between runs of a program. */
const VOLATILE: readonly string[] = [
  'clientInfo',
  'io.modelcontextprotocol/clientInfo',
  'progressToken',
  'traceparent',
  'tracestate',
  'baggage',
]

/**
 * Returns a connector whose responses come from a transcript. Requests are compared with recorded requests by method
 * and parameters; the name and version of the client are ignored. A request that was not recorded rejects with
 * `ConnectionError` `unsupported`. Its message describes the difference to the most similar request.
 *
 * @param options the `redact` function that the transcript was recorded with
 * @throws TypeError if the value is not a transcript
 */
export function replayTranscript(transcript: Transcript, options: RecordOptions = {}): Connector {
  if (transcript?.format !== FORMAT || !Array.isArray(transcript.steps)) {
    throw new TypeError(`replay: expected a transcript of the format "${FORMAT}"; record it again`)
  }
  const player = new Player(transcript.steps, createReplacer(options.redact))
  return { connect: ({ responder }) => player.connect(responder) }
}

/** Plays the steps of a transcript. Connections share the steps, because a client may connect more than once. */
class Player {
  readonly #steps: readonly Step[]
  readonly #replacer: Replacer
  readonly #played = new Set<Step>()

  constructor(steps: readonly Step[], replacer: Replacer) {
    this.#steps = steps
    this.#replacer = replacer
  }

  connect(responder: Responder): Connection {
    let close: (reason?: ConnectionError) => void = () => {}
    const closed = new Promise<ConnectionError | undefined>((resolve) => {
      close = resolve
    })
    return {
      closed,
      hasSeparateStreams: true,
      negotiated() {},
      close: async (reason) => close(reason),
      notify: (method, params) => this.#playNotification(method, params as JsonObject | undefined, responder),
      request: (method, params, options = {}) =>
        Promise.race([
          this.#playCall(method, params as JsonObject | undefined, options, responder),
          rejectAtEnd(closed, options.signal),
        ]),
    }
  }

  async #playNotification(method: string, params: JsonObject | undefined, responder: Responder): Promise<void> {
    const sent = this.#normalize(params)
    const step = this.#steps.find(
      (each) =>
        isClientNotification(each, method) && !this.#played.has(each) && isEqual(this.#normalize(each.params), sent),
    )
    if (step === undefined) return
    this.#played.add(step)
    await this.#playUnrelated(step, responder)
  }

  async #playCall(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
    responder: Responder,
  ): Promise<unknown> {
    const request = this.#findCall(method, params)
    this.#played.add(request)
    await this.#playUnrelated(request, responder)
    for (const step of this.#steps) {
      if (!('call' in step) || step.call !== request.call || this.#played.has(step)) continue
      this.#played.add(step)
      if (step.from === 'server' && 'method' in step) await this.#receive(step, options, responder)
      else if (step.from === 'server' && 'error' in step) throw errorOf(step.error)
      else if (step.from === 'server' && 'result' in step) {
        // Messages after a response arrive after the client has received the response.
        void Promise.resolve().then(() => this.#playUnrelated(step, responder))
        return step.result
      }
      await this.#playUnrelated(step, responder)
    }
    // The transcript ended before the response, for example because the stream of changes was closed.
    return new Promise(() => {})
  }

  /** Returns the first request of the transcript with this method and these parameters that was not played yet. */
  #findCall(method: string, params: JsonObject | undefined): ClientCall {
    const calls = this.#steps.filter((step): step is ClientCall => isCall(step, method))
    const rest = calls.filter((step) => !this.#played.has(step))
    const sent = this.#normalize(params)
    const found = rest.find((step) => isEqual(this.#normalize(step.params), sent))
    if (found !== undefined) return found
    const [nearest] = rest
    const problem =
      nearest === undefined
        ? `expected ${calls.length} ${calls.length === 1 ? 'request' : 'requests'} ${method}, got one more`
        : firstDifference(`${method}, params`, sent, this.#normalize(nearest.params))
    throw new ConnectionError('unsupported', `replay: ${problem}`, {
      hint: 'Record the transcript again if the client has changed.',
    })
  }

  /** Passes a message of the server to the client, and compares the answer to a question with the recorded one. */
  async #receive(step: ServerMessage, options: RequestOptions, responder: Responder): Promise<void> {
    const { method, params } = step
    const message =
      params === undefined ? { jsonrpc: '2.0' as const, method } : { jsonrpc: '2.0' as const, method, params }
    if (step.question === undefined) {
      if (step.call !== undefined && options.onNotification !== undefined) options.onNotification(message)
      else await responder.respond(message, exchangeDuring(options))
      return
    }
    const response = await responder.respond({ ...message, id: `question-${step.question}` }, exchangeDuring(options))
    const recorded = this.#steps.find(
      (each) => each.from === 'client' && 'question' in each && each.question === step.question,
    ) as Extract<Step, { question: number; from: 'client' }> | undefined
    if (recorded === undefined || response === undefined) return
    this.#played.add(recorded)
    const outcome = 'error' in response ? { error: failureOf(response.error) } : { result: response.result }
    const expected = recorded.error === undefined ? { result: recorded.result } : { error: recorded.error }
    const problem = firstDifference(`the answer to ${method}`, this.#normalize(outcome), this.#normalize(expected))
    if (problem !== undefined) throw new ConnectionError('unsupported', `replay: ${problem}`)
  }

  /** Plays the messages of the server that follow a step and belong to no call. */
  async #playUnrelated(after: Step, responder: Responder): Promise<void> {
    for (const step of this.#steps.slice(this.#steps.indexOf(after) + 1)) {
      if (step.from !== 'server' || !('method' in step) || 'call' in step || this.#played.has(step)) return
      this.#played.add(step)
      await this.#receive(step, {}, responder)
    }
  }

  /** Returns the form of a value that is compared: without secrets, and without members that differ between runs. */
  #normalize(value: unknown): unknown {
    const text = JSON.stringify(value ?? null, (name, member) =>
      VOLATILE.includes(name) ? undefined : this.#replacer(name, member),
    )
    return JSON.parse(text)
  }
}

type ClientCall = Extract<Step, { from: 'client'; call: number; method: string }>
type ServerMessage = {
  readonly method: string
  readonly params?: JsonObject
  readonly call?: number
  readonly question?: number
}

function isCall(step: Step, method: string): step is ClientCall {
  return step.from === 'client' && 'method' in step && 'call' in step && step.method === method
}

function isClientNotification(step: Step, method: string): step is Extract<Step, { from: 'client'; method: string }> {
  return step.from === 'client' && 'method' in step && !('call' in step) && step.method === method
}

/** Rejects when the connection is closed or the signal is aborted. */
function rejectAtEnd(closed: Promise<ConnectionError | undefined>, signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    void closed.then((reason) => reject(reason ?? new ConnectionError('closed', 'The connection was closed')))
    const onAbort = () =>
      reject(new ConnectionError('cancelled', 'The request was cancelled', { cause: signal?.reason }))
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted === true) onAbort()
  })
}

function exchangeDuring(during: RequestOptions): Exchange {
  const { signal } = new AbortController()
  return {
    signal,
    auth: undefined,
    session: undefined,
    requestInfo: undefined,
    during,
    notify() {},
    hold: () => () => {},
  }
}
