/** Records the dialogue of a client with a server, and replays it without the server. */

import {
  type Connection,
  ConnectionError,
  type Connector,
  cancelledError,
  createPendingRequests,
  type Exchange,
  type JsonObject,
  type RequestOptions,
  type Responder,
} from '@mcpx/protocol'
import { errorOf, observeConnector, type Step, toConnector, withoutMemory } from './observe.ts'
import {
  createReplacer,
  FORMAT,
  RecordedSteps,
  type RecordOptions,
  type Replacer,
  type ServerMessage,
  type Transcript,
} from './recorded-steps.ts'

let readUpdateMode = (): boolean => false

/** Sets the function that returns whether the test runner updates its snapshots. */
export function setUpdateMode(read: () => boolean): void {
  readUpdateMode = read
}

/** Returns whether the test runner updates its snapshots, as with `vitest -u`. */
export function isUpdateMode(): boolean {
  return readUpdateMode()
}

/**
 * Returns a connector that records all of its connections. `onSave` receives the whole transcript each time a
 * connection has ended. Members and strings that look like secrets are replaced by `[redacted]`, or 0 for numbers.
 */
export function recordTranscript(
  target: Responder | Connector,
  onSave: (transcript: Transcript) => void,
  { redact }: RecordOptions = {},
): Connector {
  const replacer = createReplacer(redact)
  const steps: Step[] = []
  return observeConnector(
    withoutMemory(toConnector('record', target)),
    (step) => void steps.push(copyOf(step, replacer)),
    () => onSave({ format: FORMAT, steps: [...steps] }),
  )
}

/** Copies a step, because its objects belong to the client and the server. */
function copyOf(step: Step, replacer: Replacer): Step {
  return JSON.parse(JSON.stringify(step, replacer)) as Step
}

/**
 * Returns a connector whose responses come from a transcript. Requests are compared with recorded requests by method
 * and parameters; the name and version of the client are ignored. A request that was not recorded rejects with
 * `ConnectionError` (reason `unsupported`). Its message describes the difference to the most similar request.
 *
 * @param options the `redact` function that the transcript was recorded with
 * @throws TypeError if the value is not a transcript
 */
export function replayTranscript(transcript: Transcript, options: RecordOptions = {}): Connector {
  return replaySteps(new RecordedSteps(transcript, { ...options, place: 'replay' }))
}

/** Returns a connector whose responses come from the steps of a transcript. */
export function replaySteps(recorded: RecordedSteps): Connector {
  const player = new Player(recorded)
  return { connect: ({ responder }) => player.connect(responder) }
}

/** Plays the steps of a transcript. Connections share the steps, because a client may connect more than once. */
class Player {
  readonly #recorded: RecordedSteps

  constructor(recorded: RecordedSteps) {
    this.#recorded = recorded
  }

  connect(responder: Responder): Connection {
    const pending = createPendingRequests({ onCancel() {} })
    let requests = 0
    let resolveClosed: (reason?: ConnectionError) => void = () => {}
    const closed = new Promise<ConnectionError | undefined>((resolve) => {
      resolveClosed = resolve
    })
    return {
      closed,
      hasSeparateStreams: true,
      negotiated() {},
      async close(reason) {
        pending.failAll(reason ?? new ConnectionError('closed', 'The connection was closed'))
        resolveClosed(reason)
      },
      notify: (method, params) => this.#playNotification(method, params as JsonObject | undefined, responder),
      request: async (method, params, options = {}) => {
        if (options.signal?.aborted) throw cancelledError(options.label ?? method, options.signal)
        requests += 1
        const id = requests
        const response = pending.add(id, method, options)
        const exchange = exchangeDuring(options, () => pending.hold(id))
        this.#playCall(method, params as JsonObject | undefined, exchange, responder).then(
          (result) => pending.settle({ jsonrpc: '2.0', id, result: result as JsonObject }),
          (error: Error) => pending.fail(id, error),
        )
        return response
      },
    }
  }

  async #playNotification(method: string, params: JsonObject | undefined, responder: Responder): Promise<void> {
    const step = this.#recorded.useNotification(method, params)
    if (step !== undefined) await this.#playUnrelated(step, responder)
  }

  async #playCall(
    method: string,
    params: JsonObject | undefined,
    exchange: Exchange,
    responder: Responder,
  ): Promise<unknown> {
    const request = this.#recorded.useCall(method, params)
    await this.#playUnrelated(request, responder)
    for (const step of this.#recorded.steps) {
      if (!('call' in step) || step.call !== request.call || this.#recorded.isUsed(step)) continue
      this.#recorded.use(step)
      if (step.from === 'server' && 'method' in step) await this.#receive(step, exchange, responder)
      else if (step.from === 'server' && 'error' in step) throw errorOf(step.error)
      else if (step.from === 'server' && 'result' in step) {
        // Messages after a response arrive after the client has received the response.
        void Promise.resolve().then(() => this.#playUnrelated(step, responder))
        return step.result
      }
      await this.#playUnrelated(step, responder)
    }
    // The transcript ended before the response, for example because the stream of changes was closed. The request ends by
    // its timeout.
    return new Promise(() => {})
  }

  /**
   * Passes a message of the server to the client. If it is an input request, compares the response with the recorded
   * response.
   */
  async #receive(step: ServerMessage, exchange: Exchange, responder: Responder): Promise<void> {
    const { method, params } = step
    const message =
      params === undefined ? { jsonrpc: '2.0' as const, method } : { jsonrpc: '2.0' as const, method, params }
    if (step.question === undefined) {
      const onNotification = exchange.during?.onNotification
      if (step.call !== undefined && onNotification !== undefined) onNotification(message)
      else await responder.respond(message, exchange)
      return
    }
    const response = await responder.respond({ ...message, id: `question-${step.question}` }, exchange)
    const recorded = this.#recorded.steps.find(
      (each) => each.from === 'client' && 'question' in each && each.question === step.question,
    ) as Extract<Step, { question: number; from: 'client' }> | undefined
    if (recorded === undefined || response === undefined) return
    this.#recorded.use(recorded)
    const outcome = 'error' in response ? { error: response.error } : { result: response.result }
    const expected = recorded.error === undefined ? { result: recorded.result } : { error: recorded.error }
    const differences = this.#recorded.compare(`the answer to ${method}`, outcome, expected)
    if (differences.length > 0) throw this.#recorded.createError(differences)
  }

  /** Sends the messages of the server that follow a step and belong to no call. */
  async #playUnrelated(after: Step, responder: Responder): Promise<void> {
    const { steps } = this.#recorded
    for (const step of steps.slice(steps.indexOf(after) + 1)) {
      if (step.from !== 'server' || !('method' in step) || 'call' in step || this.#recorded.isUsed(step)) return
      this.#recorded.use(step)
      await this.#receive(step, exchangeDuring({}), responder)
    }
  }
}

function exchangeDuring(during: RequestOptions, hold: Exchange['hold'] = () => () => {}): Exchange {
  const { signal } = new AbortController()
  return {
    signal,
    auth: undefined,
    session: undefined,
    requestInfo: undefined,
    during,
    notify() {},
    hold,
  }
}
