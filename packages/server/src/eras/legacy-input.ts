/** Questions on the legacy wire: the peer is asked while the handler waits. */

import {
  type Awaitable,
  type ClientCapabilities,
  ConnectionError,
  check,
  hasCapability,
  type InputRequest,
  type InputResponse,
  internalError,
  type JsonObject,
  type Revision,
  serverRequestResult,
  stripParamsFor,
  urlElicitationRequired,
} from '@mcpx/protocol'
import { type Asker, asJson, askedAgain, namedQuestions, once, type Question, usableQuestions } from '../asker.ts'
import { claimKey } from '../questions.ts'

/** How requests of this era ask: by requests of the other direction. */
export type LegacyWay = (options: LegacyAskerOptions) => Asker

export interface LegacyAskerOptions {
  readonly capabilities: ClientCapabilities
  readonly revision: Revision
  /** Sends a request to the client. */
  readonly ask: (method: string, params: JsonObject) => Promise<unknown>
  /** Sends a notification to the client. */
  readonly tell: (method: string, params: JsonObject) => Awaitable<void>
}

/** How often a user is asked again who gives what does not fit. */
const ATTEMPTS = 3

export function createLegacyAsker(options: LegacyAskerOptions): Asker {
  const answers = new Map<string, Promise<unknown>>()
  const kinds = new Map<string, string>()
  const steps = new Map<string, Promise<unknown>>()
  const visits: string[] = []

  const declaresContext = hasCapability(options.revision, 'client', 'sampling.context')

  return {
    named: namedQuestions,
    async ask(questions) {
      const usable = usableQuestions(questions, options.capabilities, declaresContext)
      for (const [key, { request }] of usable) claimKey(kinds, key, request)
      const entries = usable.map(
        async ([key, question]) =>
          [key, await once(answers, key, () => askUntilItFits(question, options, visits))] as const,
      )
      return Object.fromEntries(await Promise.all(entries))
    },
    step<Result>(key: string, run: () => Awaitable<Result>) {
      return once(steps, key, async () => asJson(key, await run())) as Promise<Result>
    },
    async finish() {
      for (const elicitationId of visits) await options.tell('notifications/elicitation/complete', { elicitationId })
    },
  }
}

async function askUntilItFits(
  { request, check: checkAnswer }: Question,
  options: LegacyAskerOptions,
  visits: string[],
) {
  let problem = ''
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const response = await askOnce(request, problem, options, visits)
    const checked = checkAnswer === undefined ? { value: response } : await Promise.resolve(checkAnswer(response))
    if ('value' in checked) return checked.value
    problem = checked.problem
  }
  throw internalError(`The client answered ${request.method} ${ATTEMPTS} times with what does not fit: ${problem}`)
}

async function askOnce(
  request: InputRequest,
  problem: string,
  options: LegacyAskerOptions,
  visits: string[],
): Promise<InputResponse> {
  const { method } = request
  const { revision } = options
  const params = toParams(request, problem)
  const elicitationId = params.elicitationId as string | undefined
  try {
    const result = await options.ask(method, stripParamsFor(revision, method, params))
    const schema = serverRequestResult(revision, method)
    const flaw = schema && check(schema, result, 'result').problem
    if (flaw !== undefined) throw internalError(`The client answered ${method} with what is not its result. ${flaw}`)
    if (elicitationId !== undefined && (result as JsonObject).action === 'accept') visits.push(elicitationId)
    return result as InputResponse
  } catch (error) {
    const isCut = error instanceof ConnectionError && error.reason === 'unreachable'
    throw isCut && elicitationId !== undefined ? urlElicitationRequired([params]) : error
  }
}

/** On this wire a visit has an id, so that its end can be told. */
function toParams(request: InputRequest, problem: string): JsonObject {
  const asked = problem === '' ? request : askedAgain(request, problem)
  const params: JsonObject = { ...('params' in asked ? asked.params : undefined) }
  return params.mode === 'url' ? { ...params, elicitationId: crypto.randomUUID() } : params
}
