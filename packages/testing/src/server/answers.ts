/** A scripted user and model, which answer the input requests of servers in tests. */

import type { ClientOptions, ElicitAnswer, Elicitation } from '@mcpx/client'
import {
  type Awaitable,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  formProblem,
  isObject,
  kindOf,
  quoted,
  refuseUnknownOption,
} from '@mcpx/protocol'

/** The values of a form. */
export type FormContent = Readonly<Record<string, string | number | boolean | readonly string[]>>

/**
 * A scripted answer of the user. An object answers a form that has all of its members as fields. `accept` accepts a
 * URL, or a form with its defaults; `decline` and `cancel` refuse. A function returns one of these for the request that
 * it receives.
 */
export type ScriptedAnswer =
  | FormContent
  | 'accept'
  | 'decline'
  | 'cancel'
  | ((request: Elicitation) => Awaitable<FormContent | 'accept' | 'decline' | 'cancel'>)

/** The answers of the model: one string for all requests, an array with one string per request, or a function. */
export type ScriptedModel =
  | string
  | readonly string[]
  | ((params: CreateMessageRequestParams) => Awaitable<string | CreateMessageResult>)

/** Options of `answers`. */
export interface AnswersOptions {
  /** Answers sampling requests. Default: the client does not support sampling. */
  readonly model?: ScriptedModel | undefined
}

/** An input request that the server has sent. */
export interface AskedQuestion {
  /** The name of the scripted answer that was used. Undefined for a sampling request, or if no answer fits. */
  readonly name: string | undefined
  /** The message for the user, or the text of the last message for the model. */
  readonly message: string
  /** The request as the callback of the client received it. */
  readonly request: Elicitation | CreateMessageRequestParams
}

/** A scripted user: the callbacks of a client, and a record of the questions. */
export interface ScriptedUser {
  /** The options of `connect` that answer input requests. */
  readonly callbacks: Pick<ClientOptions, 'onElicit' | 'onSample'>
  /** The questions so far, in order. */
  readonly asked: readonly AskedQuestion[]
  /** The names of the answers that were not used yet. */
  readonly unused: readonly string[]
  /** The questions that no answer fits, as errors, and the errors that functions of the script have thrown. */
  readonly problems: readonly Error[]
  /** Removes all recorded questions, so that the script can be used again. */
  reset(): void
}

/**
 * Creates a user who answers by a script. Each answer is used once. A question receives the first unused answer that
 * fits. An object fits a form if each member is a field of the form and has an accepted value. Other answers fit every
 * form and URL. The names of the answers appear only in `asked` and in errors.
 *
 * ```ts
 * const user = answers({ seat: { row: 7 }, terms: 'accept', insurance: 'decline' })
 * await using client = await connect(server, user.callbacks)
 * ```
 */
export function answers(script: Readonly<Record<string, ScriptedAnswer>>, options: AnswersOptions = {}): ScriptedUser {
  if (!isObject(script))
    throw new TypeError(`answers: expected an object of scripted answers by name, got ${kindOf(script)}`)
  for (const [name, answer] of Object.entries(script)) {
    const problem = typeof answer === 'function' ? undefined : problemOf(answer)
    if (problem !== undefined) throw new TypeError(`answers, ${name}: ${problem}`)
  }
  refuseUnknownOption('answers', options, ['model'] satisfies (keyof AnswersOptions)[])
  const { model } = options
  if (model !== undefined && typeof model !== 'string' && typeof model !== 'function' && !Array.isArray(model)) {
    throw new TypeError(`answers, model: expected a string, an array of strings or a function, got ${kindOf(model)}`)
  }
  const asked: AskedQuestion[] = []
  const problems: Error[] = []
  let unused = Object.keys(script)
  let samples = 0

  function fail(problem: string): never {
    const rest = unused.length === 0 ? 'none is left' : `left: ${unused.map(quoted).join(', ')}`
    const error = new Error(`answers: ${problem}; ${rest}`)
    problems.push(error)
    throw error
  }

  /** Calls a function of the script. Its error, for example a failed assertion, is reported as the error of the test. */
  async function call<Value>(run: () => Awaitable<Value>): Promise<Value> {
    try {
      return await run()
    } catch (error) {
      problems.push(error instanceof Error ? error : new Error(String(error)))
      throw error
    }
  }

  async function onElicit(request: Elicitation): Promise<ElicitAnswer> {
    const name = unused.find((each) => fits(script[each] as ScriptedAnswer, request))
    asked.push({ name, message: request.message, request })
    if (name === undefined) {
      const fields = request.mode === 'form' ? ` (fields: ${Object.keys(request.schema.properties).join(', ')})` : ''
      return fail(`expected a scripted answer for the question ${quoted(request.message)}${fields}`)
    }
    unused = unused.filter((each) => each !== name)
    const answer = script[name] as ScriptedAnswer
    const reaction = typeof answer === 'function' ? await call(() => answer(request)) : answer
    const problem = problemOf(reaction)
    if (problem !== undefined) return fail(`${name}, the returned answer: ${problem}`)
    return typeof reaction === 'string' ? { action: reaction } : { action: 'accept', content: mutable(reaction) }
  }

  async function onSample(params: CreateMessageRequestParams): Promise<CreateMessageResult> {
    asked.push({ name: undefined, message: lastText(params), request: params })
    const count = samples++
    const scripted = Array.isArray(model) ? model[count] : model
    const reply = typeof scripted === 'function' ? await call(() => scripted(params)) : scripted
    if (reply === undefined) return fail(`expected a scripted reply of the model for request ${count + 1}`)
    if (typeof reply !== 'string') return reply as CreateMessageResult
    return { model: 'scripted', role: 'assistant', content: { type: 'text', text: reply }, stopReason: 'endTurn' }
  }

  return {
    callbacks: model === undefined ? { onElicit } : { onElicit, onSample },
    asked,
    problems,
    get unused() {
      return unused
    },
    reset() {
      asked.length = 0
      problems.length = 0
      unused = Object.keys(script)
      samples = 0
    },
  }
}

/** Returns why a value is not an answer, or undefined. */
function problemOf(answer: unknown): string | undefined {
  if (isObject(answer) || ['accept', 'decline', 'cancel'].includes(answer as string)) return undefined
  const got = typeof answer === 'string' ? quoted(answer) : kindOf(answer)
  return `expected the values of a form, accept, decline, cancel or a function, got ${got}`
}

function fits(answer: ScriptedAnswer, request: Elicitation): boolean {
  if (typeof answer !== 'object') return true
  if (request.mode !== 'form') return false
  const { properties } = request.schema
  if (!Object.keys(answer).every((field) => Object.hasOwn(properties, field))) return false
  return formProblem(request.schema, answer) === undefined
}

function mutable(content: FormContent): NonNullable<ElicitAnswer['content']> {
  return Object.fromEntries(
    Object.entries(content).map(([field, value]) => [field, Array.isArray(value) ? [...value] : value]),
  ) as NonNullable<ElicitAnswer['content']>
}

function lastText({ messages }: CreateMessageRequestParams): string {
  const blocks = [messages.at(-1)?.content ?? []].flat()
  return blocks.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)).join('\n')
}
