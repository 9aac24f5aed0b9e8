/** Sends the questions of legacy calls, as requests to the client, while the handler waits. */

import {
  type Awaitable,
  type ClientCapabilities,
  ConnectionError,
  check,
  hasCapability,
  type InputRequest,
  type InputResponse,
  internalError,
  invalidRequest,
  type JsonObject,
  type Session,
  serverRequestResult,
  stripParamsFor,
  urlElicitationRequired,
} from '@mcpx/protocol'
import type { LegacyCall } from './legacy.ts'
import {
  type Asker,
  askUntilValid,
  claimQuestions,
  type OnUnsupported,
  type QuestionKinds,
  type Questions,
  startOnce,
  toStepResult,
} from './questions.ts'

/** How long to wait for the answer of a user, in ms. */
const ANSWER_TIMEOUT = 3_600_000

/**
 * Sends the questions of one call. If the handler returns `inputRequired()` and runs again, answers and steps are kept.
 */
export class LegacyAsker implements Asker {
  readonly #call: LegacyCall
  readonly #onUnsupported: OnUnsupported | undefined
  readonly #answers = new Map<string, Promise<unknown>>()
  readonly #kinds: QuestionKinds = new Map()
  readonly #steps = new Map<string, Promise<unknown>>()
  /** The ids of the URLs that the user agreed to visit. */
  readonly #visits: string[] = []

  constructor(call: LegacyCall, onUnsupported: OnUnsupported | undefined) {
    this.#call = call
    this.#onUnsupported = onUnsupported
  }

  async ask(questions: Questions, askedKeys: Set<string>): Promise<Readonly<Record<string, unknown>>> {
    const { session, revision } = this.#call
    const capabilities: ClientCapabilities = session.state.clientCapabilities ?? {}
    const declaresContext = hasCapability(revision, 'client', 'sampling.context')
    const client = { capabilities, declaresContext, onUnsupported: this.#onUnsupported }
    const { usable, answered } = claimQuestions(questions, this.#kinds, askedKeys, client)
    const answers = usable.map(async ([key, question]) => {
      return [key, await startOnce(this.#answers, key, () => askUntilValid(question, this.#askOnce))] as const
    })
    const [others, entries] = await Promise.all([answered, Promise.all(answers)])
    return { ...others, ...Object.fromEntries(entries) }
  }

  step<Result>(key: string, run: () => Awaitable<Result>): Promise<Result> {
    return startOnce(this.#steps, key, async () => toStepResult(key, await run())) as Promise<Result>
  }

  async finish(): Promise<void> {
    for (const elicitationId of this.#visits) {
      await this.#call.exchange.notify('notifications/elicitation/complete', { elicitationId })
    }
  }

  readonly #askOnce = async (request: InputRequest): Promise<InputResponse> => {
    const { method } = request
    const { revision } = this.#call
    const params = toParams(request)
    const elicitationId = params.elicitationId as string | undefined
    try {
      const result = await this.#request(method, stripParamsFor(revision, method, params))
      const schema = serverRequestResult(revision, method)
      const flaw = schema && check(schema, result, 'result').problem
      if (flaw !== undefined) throw internalError(`The client sent an invalid result for ${method}. ${flaw}`)
      if (elicitationId !== undefined && (result as JsonObject).action === 'accept') this.#visits.push(elicitationId)
      return result as InputResponse
    } catch (error) {
      const isUnreachable = error instanceof ConnectionError && error.reason === 'unreachable'
      throw isUnreachable && elicitationId !== undefined ? urlElicitationRequired([params]) : error
    }
  }

  async #request(method: string, params: JsonObject): Promise<unknown> {
    const { session, exchange } = this.#call
    const { signal } = exchange
    await untilInitialized(session, signal)
    return session.request(method, params, { signal, timeout: ANSWER_TIMEOUT })
  }
}

/** Returns the parameters of a legacy request. URL questions have an id for the later notification of completion. */
function toParams(request: InputRequest): JsonObject {
  const params: JsonObject = { ...('params' in request ? request.params : undefined) }
  return params.mode === 'url' ? { ...params, elicitationId: crypto.randomUUID() } : params
}

/** Poll intervals in ms, about two seconds in all. `notifications/initialized` may arrive through another process. */
const POLL_INTERVALS = [5, 15, 30, 50, 100, 200, 400, 600, 600]

/** Resolves when the client has sent `notifications/initialized`, or the signal is aborted. Rejects after the last poll. */
async function untilInitialized(session: Session, signal: AbortSignal): Promise<void> {
  if (isInitialized(session)) return
  for (const ms of POLL_INTERVALS) {
    await new Promise((resolve) => setTimeout(resolve, ms))
    if (isInitialized(session) || signal.aborted) return
    // An update that changes nothing reads the newest record from the store.
    await session.update(() => {})
    if (isInitialized(session)) return
  }
  throw invalidRequest('Cannot send requests to the client: it has not sent "notifications/initialized"')
}

function isInitialized({ state }: Session): boolean {
  return state.initialized === true
}
