/** Creates and checks input requests ("questions") of handlers. Each era sends them in its own way. */

import {
  type Ask,
  type Awaitable,
  type ClientCapabilities,
  type CreateMessageRequestParams,
  CreateMessageRequestParams as CreateMessageRequestParamsShape,
  type CreateMessageResult,
  check,
  type ElicitOptions,
  type ElicitOutcome,
  ElicitRequestFormParams,
  type ElicitRequestParams,
  ElicitRequestURLParams,
  type ElicitResult,
  ElicitResult as ElicitResultShape,
  type FormSchema,
  formProblem,
  type InputRequest,
  type InputRequiredResult,
  type InputResponse,
  internalError,
  isObject,
  type JsonObject,
  kindOf,
  ListRootsRequest,
  type ListRootsResult,
  missingClientCapability,
  type OpenUrlOptions,
  quoted,
  RequestedSchema,
  type Root,
  type SampleParams,
  type StandardSchema,
  samplingProblem,
  unknownOption,
} from '@mcpx/protocol'
import { QuestionError, ToolError } from './errors.ts'
import { createStandardCheck } from './schema-check.ts'

/** Checks a response. Returns the value for the handler, or a problem, after which the question is asked again. */
export type AnswerCheck = (response: InputResponse) => Awaitable<{ value: unknown } | { problem: string }>

/** An input request of a handler, with the check of its response. */
export interface Question {
  /** The input request as the protocol sends it. */
  readonly request: InputRequest
  /** Checks the response. Default: every response of the right type is accepted. */
  readonly check?: AnswerCheck
  /** The answer, or a message for the model, that is used if the client does not support the request. Default: none. */
  readonly otherwise?: unknown
}

/** A form or a URL that a client does not support. */
export type UnsupportedElicitation = ElicitRequestParams & {
  /** The key of the question. */
  readonly key: string
}

/** Answers input requests that the client does not support. */
export interface OnUnsupported {
  /**
   * Called for a form or a URL that the client cannot show, unless the question has `otherwise`. Returns a response,
   * which is validated like a response of a client, or a message for the model, which becomes the result of the tool.
   * If it returns undefined, the call fails with the error that names the missing capability. It is not called for
   * `approve()`.
   */
  readonly elicit?: ((question: UnsupportedElicitation) => string | ElicitResult | undefined) | undefined
}

export type Questions = Readonly<Record<string, Question>>

/** Checks a response that has the right type for its question. */
export async function checkAnswer({ check: checkResponse }: Question, response: InputResponse) {
  return checkResponse === undefined ? { value: response } : checkResponse(response)
}

/** How often a question is sent, if its answers are invalid. */
const ATTEMPTS = 3

/**
 * Asks a question until the response is valid, at most three times, and returns the value for the handler. For authors of
 * extensions that send questions themselves. `attempt` counts from 1.
 */
export async function askUntilValid<Answer>(
  question: Question | Ask<Answer>,
  askOnce: (request: InputRequest, attempt: number) => Promise<InputResponse>,
): Promise<Answer> {
  const { request } = question
  let problem = ''
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const asked = problem === '' ? request : repeatQuestion(request, problem)
    const checked = await checkAnswer(question, await askOnce(asked, attempt))
    if ('value' in checked) return checked.value as Answer
    problem = checked.problem
  }
  throw internalError(`The client sent ${ATTEMPTS} invalid answers to ${request.method}: ${problem}`)
}

/** Sends the questions of one call to the client. Each era implements it. */
export interface Asker {
  /**
   * Returns the answers by key. Questions that the client does not support are left out. If it supports none of them,
   * rejects with an error that names the missing capabilities.
   *
   * @param askedKeys the keys of earlier questions in this run of the handler; the keys of these questions are added
   */
  ask(questions: Questions, askedKeys: Set<string>): Promise<Readonly<Record<string, unknown>>>
  /** Runs a step once per call, and returns its result. */
  step<Result>(key: string, run: () => Awaitable<Result>): Promise<Result>
  /** Returns the `input_required` result with the open input requests, or undefined. Modern era only. */
  unfinished?(): InputRequiredResult | undefined
  /** The answers and the results of steps so far. Modern era only. */
  readonly state?: { readonly answers?: JsonObject; readonly steps?: JsonObject }
  /** Called when the call has succeeded. */
  finish?(): Promise<void>
}

/**
 * Creates a form question for `ctx.ask`. Throws a `QuestionError` for a schema that a form cannot show.
 *
 * ```ts
 * const { seat, meal } = await ctx.ask({
 *   seat: elicit({ message: 'Which seat?', schema: z.object({ row: z.number().int() }) }),
 *   meal: elicit({ message: 'Which meal?', schema: z.object({ meal: z.enum(['fish', 'pasta']) }) }),
 * })
 * ```
 */
export function elicit<Form extends FormSchema>(options: ElicitOptions<Form>): Ask<ElicitOutcome<Form>> {
  checkQuestionOptions('elicit', options, ['message', 'schema', 'otherwise'])
  const { message, schema, otherwise } = options
  checkOtherwise('elicit', otherwise)
  const requestedSchema = toRequestedSchema(schema)
  return {
    request: { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } },
    check: (response) => checkForm(schema, requestedSchema, response) as Promise<{ value: ElicitOutcome<Form> }>,
    otherwise,
  }
}

/**
 * Creates a question for `ctx.ask` that sends the user to a URL. `accept` means that the user agreed to open it, not that
 * the visit is complete.
 */
export function openUrl(options: OpenUrlOptions): Ask<ElicitResult> {
  checkQuestionOptions('openUrl', options, ['message', 'url', 'otherwise'])
  const { message, url, otherwise } = options
  checkOtherwise('openUrl', otherwise)
  return { request: { method: 'elicitation/create', params: { mode: 'url', message, url } }, otherwise }
}

/**
 * Creates a sampling question for `ctx.ask`, which the client's model answers.
 *
 * @deprecated A revision published on or after 2027-07-28 may remove sampling (SEP-2577): call the API of a model provider.
 */
export function sample(params: SampleParams): Ask<CreateMessageResult> {
  return { request: { method: 'sampling/createMessage', params } }
}

/**
 * Creates a question for `ctx.ask` that requests the folders of the client.
 *
 * @deprecated A revision published on or after 2027-07-28 may remove roots (SEP-2577): accept folders as arguments, URIs or
 * configuration.
 */
export function roots(): Ask<Root[]> {
  return {
    request: { method: 'roots/list' },
    check: (response) => ({ value: (response as ListRootsResult).roots }),
  }
}

/** Throws a `QuestionError` if an option does not exist. */
function checkQuestionOptions(place: string, options: object, names: readonly string[]): void {
  const problem = unknownOption(place, options, names)
  if (problem !== undefined) throw new QuestionError(problem)
}

/**
 * Throws if `otherwise` is neither an outcome nor a message. The content of an outcome is not validated, because it
 * comes from the author of the handler.
 */
function checkOtherwise(place: 'elicit' | 'openUrl', otherwise: unknown): void {
  const got = otherwiseFault(place, otherwise)
  if (got === undefined) return
  const outcome = place === 'elicit' ? '{ action: "accept", content }' : '{ action: "accept" }'
  throw new QuestionError(`${place}: otherwise: expected ${outcome}, { action: "decline" } or a message, got ${got}`)
}

function otherwiseFault(place: 'elicit' | 'openUrl', otherwise: unknown): string | undefined {
  if (otherwise === undefined) return undefined
  if (typeof otherwise === 'string') return otherwise === '' ? 'an empty string' : undefined
  if (!isObject(otherwise)) return kindOf(otherwise)
  const { action, content } = otherwise
  if (action === undefined) return 'an object without action'
  if (!['accept', 'decline', 'cancel'].includes(String(action))) return `the action ${quoted(String(action))}`
  return place === 'elicit' && action === 'accept' && content === undefined ? '"accept" without content' : undefined
}

/** The JSON Schema keywords that a form field supports. Others are removed. */
const KEYWORDS =
  /^(?:type|title|description|default|enum|enumNames|oneOf|format|minimum|maximum|items|(?:min|max)(?:Length|Items))$/
const FORMATS = /^(?:email|uri|date|date-time)$/

/** Converts a schema to the schema of a form. Throws a `QuestionError` that names the field if a form cannot show it. */
function toRequestedSchema(schema: FormSchema): RequestedSchema {
  if (!isStandard(schema)) return schema
  const { type, properties = {}, required = [] } = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
  const fields = Object.entries(properties as Record<string, JsonObject>)
  const form: JsonObject = {
    type,
    properties: Object.fromEntries(fields.map(([name, field]) => [name, toFormField(field)])),
  }
  if (Array.isArray(required) && required.length > 0) form.required = required
  const { problem } = check(RequestedSchema, form, 'schema')
  if (problem !== undefined) {
    throw new QuestionError(`Form fields can only be strings, numbers, booleans and choices. ${problem}`)
  }
  return form as unknown as RequestedSchema
}

function toFormField(field: JsonObject): JsonObject {
  const options = field.anyOf
  // Libraries convert choices with titles to a union of constants.
  const isChoice = Array.isArray(options) && options.every((option) => typeof option?.const === 'string')
  const oneOf = isChoice && options.map((option) => ({ const: option.const, title: option.title ?? option.const }))
  const source = oneOf ? { ...field, type: 'string', oneOf } : field
  return Object.fromEntries(
    Object.entries(source).filter(([key, value]) => KEYWORDS.test(key) && isSupported(key, value)),
  )
}

/**
 * Returns whether a form supports a keyword with this value. It excludes formats that forms do not have, and a `minimum` or
 * `maximum` at the limits of safe integers, because zod adds these to every integer.
 */
function isSupported(key: string, value: unknown): boolean {
  if (key === 'format') return FORMATS.test(String(value))
  const isBound = key === 'minimum' || key === 'maximum'
  return !isBound || Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER
}

async function checkForm(
  schema: FormSchema,
  form: RequestedSchema,
  response: InputResponse,
): Promise<{ value: unknown } | { problem: string }> {
  const { action, content = {} } = response as ElicitResult
  if (action !== 'accept') return { value: { action } }
  const problem = formProblem(form, content)
  if (problem !== undefined) return { problem }
  if (!isStandard(schema)) return { value: { action, content } }
  const result = await createStandardCheck(schema)(content)
  if (result.issues === undefined) return { value: { action, content: result.value } }
  return { problem: result.issues.map((issue) => issue.message).join('; ') }
}

function isStandard(schema: FormSchema): schema is StandardSchema {
  return '~standard' in schema
}

/** The largest number of questions of a handler in one run, and of a result. */
const MAX_QUESTIONS = 1_000

/** The kind of question per key. A key must keep its kind in all runs of a call. */
export type QuestionKinds = Map<string, string>

/** The facts about the client of a call that determine which questions it supports. */
export interface QuestionedClient {
  readonly capabilities: ClientCapabilities
  /**
   * Whether the revision has the capability `sampling.context`. In other revisions, every client that supports sampling
   * supports `includeContext`.
   */
  readonly declaresContext: boolean
  readonly onUnsupported: OnUnsupported | undefined
}

/** Questions that are ready to be sent, and answers to the questions that the client does not support. */
export interface ClaimedQuestions {
  readonly usable: readonly (readonly [string, Question])[]
  /** Resolves to the answers of `otherwise` and `onUnsupported`, by key. */
  readonly answered: Promise<Readonly<Record<string, unknown>>>
}

/**
 * Checks questions before they are sent, and records their keys.
 *
 * @throws QuestionError for an invalid question, or a key that was used before
 * @throws ToolError if the server has a message for the model instead of a question
 * @throws RpcError if the client supports none of the questions; it names the missing capabilities
 */
export function claimQuestions(
  questions: Questions,
  kinds: QuestionKinds,
  askedKeys: Set<string>,
  { capabilities, declaresContext, onUnsupported }: QuestionedClient,
): ClaimedQuestions {
  const all = Object.entries(questions)
  for (const [key, { request }] of all) checkQuestion(key, request)
  const usable: [string, Question][] = []
  const substitutes: [string, Substitute][] = []
  const missing: JsonObject = {}
  for (const [key, question] of all) {
    const lacking = missingCapabilities(question.request, capabilities, declaresContext)
    const substitute = lacking && findSubstitute(key, question, onUnsupported)
    if (lacking === undefined) usable.push([key, question])
    else if (substitute !== undefined) substitutes.push([key, substitute])
    for (const name in lacking) missing[name] = { ...(missing[name] as object), ...(lacking[name] as object) }
  }
  if (all.length > 0 && usable.length + substitutes.length === 0) throw missingClientCapability(missing)
  for (const [key, { request }] of usable) claimKind(kinds, key, request)
  for (const [key] of [...usable, ...substitutes]) claimKey(askedKeys, key)
  return { usable, answered: resolveSubstitutes(substitutes) }
}

/** Returns the answer to a question that the client does not support. */
type Substitute = () => unknown

async function resolveSubstitutes(substitutes: readonly [string, Substitute][]): Promise<Record<string, unknown>> {
  const entries = substitutes.map(async ([key, answer]) => [key, await answer()] as const)
  return Object.fromEntries(await Promise.all(entries))
}

/** Finds the answer to a question that the client does not support. Throws a `ToolError` for a message for the model. */
function findSubstitute(
  key: string,
  question: Question,
  onUnsupported: OnUnsupported | undefined,
): Substitute | undefined {
  const { request, otherwise } = question
  if (typeof otherwise === 'string') throw new ToolError(otherwise)
  if (otherwise !== undefined) return () => otherwise
  if (request.method !== 'elicitation/create') return undefined
  const response = onUnsupported?.elicit?.({ ...request.params, key })
  if (typeof response === 'string') throw new ToolError(response)
  return response && (() => acceptResponse(key, question, response))
}

/** Checks a response of `onUnsupported` like a response of a client. Returns the answer for the handler. */
async function acceptResponse(key: string, question: Question, response: ElicitResult): Promise<unknown> {
  const { problem } = check(ElicitResultShape, response, 'response')
  const checked = problem === undefined ? await checkAnswer(question, response) : { problem }
  if ('value' in checked) return checked.value
  const place = `Question ${quoted(key)}: onUnsupported.elicit returned an invalid response`
  throw new QuestionError(`${place}: ${checked.problem}`)
}

function claimKey(askedKeys: Set<string>, key: string): void {
  if (askedKeys.has(key)) {
    const remedy = 'use different keys, such as `seat-2` for the second question'
    throw new QuestionError(`Question ${quoted(key)}: the key was already used in this run of the handler; ${remedy}`)
  }
  if (askedKeys.size === MAX_QUESTIONS) {
    const remedy = 'ask for several values in one form'
    throw new QuestionError(`Questions of one call: expected at most ${MAX_QUESTIONS}; ${remedy}`)
  }
  askedKeys.add(key)
}

/** Throws the error that names the missing capabilities if the client does not support a question. */
export function requireSupport(request: InputRequest, capabilities: ClientCapabilities): void {
  const missing = missingCapabilities(request, capabilities, true)
  if (missing !== undefined) throw missingClientCapability(missing)
}

function claimKind(kinds: QuestionKinds, key: string, { method, params }: InputRequest): void {
  const kind = isUrlMode(params) ? `${method} (url)` : method
  const known = kinds.get(key) ?? kind
  if (known !== kind) {
    const detail = `the key was first used for ${known} and is now used for ${kind}; use different keys`
    throw new QuestionError(`Question ${quoted(key)}: ${detail}`)
  }
  kinds.set(key, kind)
}

const problems: Readonly<Record<string, (request: InputRequest) => string | undefined>> = {
  'elicitation/create': elicitationProblem,
  // `true`: tools are allowed. `missingCapabilities` checks whether the client supports them.
  'sampling/createMessage': ({ params }) =>
    check(CreateMessageRequestParamsShape, params, 'params').problem ??
    samplingProblem(params as CreateMessageRequestParams, true),
  'roots/list': (request) => check(ListRootsRequest, request).problem,
}

/** Throws a `QuestionError` for an invalid question. It names the key, the place and the problem. */
function checkQuestion(key: string, request: InputRequest): void {
  const problem = questionProblem(request)
  if (problem !== undefined) throw new QuestionError(`Question ${quoted(key)}: ${problem}`)
}

function questionProblem(request: InputRequest): string | undefined {
  if (typeof request !== 'object' || request === null) return `expected a request, got ${kindOf(request)}`
  const method: unknown = request.method
  if (typeof method === 'string' && Object.hasOwn(problems, method)) return problems[method]?.(request)
  const known = Object.keys(problems).join(', ')
  return `method: expected one of ${known}, got ${typeof method === 'string' ? quoted(method) : kindOf(method)}`
}

function elicitationProblem({ params }: InputRequest): string | undefined {
  const isUrl = isUrlMode(params)
  const { problem } = check<unknown>(isUrl ? ElicitRequestURLParams : ElicitRequestFormParams, params, 'params')
  if (problem !== undefined) return problem
  if (isUrl) {
    const { url } = params as ElicitRequestURLParams
    return URL.canParse(url) ? undefined : `params.url: ${quoted(url)} is not an absolute URL`
  }
  const { properties, required = [] } = (params as ElicitRequestFormParams).requestedSchema
  const stray = required.findIndex((name) => !Object.hasOwn(properties, name))
  if (stray < 0) return undefined
  return `params.requestedSchema.required[${stray}]: there is no field ${quoted(required[stray] as string)}`
}

function isUrlMode(params: unknown): boolean {
  return (params as { mode?: unknown } | undefined)?.mode === 'url'
}

/** Returns the capabilities for this question that the client lacks, or undefined. */
export function missingCapabilities(
  { method, ...request }: InputRequest,
  { elicitation, sampling, roots }: ClientCapabilities,
  declaresContext: boolean,
): JsonObject | undefined {
  const params = ('params' in request ? request.params : undefined) as JsonObject | undefined
  if (method === 'roots/list') return roots ? undefined : { roots: {} }
  if (method === 'elicitation/create') {
    if (isUrlMode(params)) return elicitation?.url ? undefined : { elicitation: { url: {} } }
    // An empty `elicitation` object means that only forms are supported.
    return elicitation && (elicitation.form ?? !elicitation.url) ? undefined : { elicitation: { form: {} } }
  }
  if ((params?.tools ?? params?.toolChoice) !== undefined && !sampling?.tools) return { sampling: { tools: {} } }
  const { includeContext = 'none' } = params ?? {}
  if (includeContext !== 'none' && declaresContext && !sampling?.context) return { sampling: { context: {} } }
  return sampling ? undefined : { sampling: {} }
}

/** Returns the question for another attempt. The message of a form then contains the problem with the last answer. */
export function repeatQuestion(request: InputRequest, problem: string): InputRequest {
  const { method, params } = request as { method: string; params?: JsonObject }
  if (method !== 'elicitation/create' || isUrlMode(params)) return request
  return { ...request, params: { ...params, message: `${params?.message} (${problem})` } } as InputRequest
}

/** Converts the result of a step to JSON values, because the modern era sends it to the client and back. */
export function toStepResult(key: string, value: unknown): unknown {
  try {
    return value === undefined ? null : JSON.parse(JSON.stringify(value))
  } catch (cause) {
    throw internalError(`The result of step ${JSON.stringify(key)} cannot be written as JSON`, { cause })
  }
}

/** Starts a task on the first call with a key. Later calls return the same promise. */
export function startOnce<Value>(
  started: Map<string, Promise<Value>>,
  key: string,
  start: () => Promise<Value>,
): Promise<Value> {
  const promise = started.get(key) ?? start()
  started.set(key, promise)
  return promise
}

/** The promise of a question or a step. It records whether it was awaited, and never causes an unhandled rejection. */
export class PendingAnswer<Value> extends Promise<Value> {
  /** The call as source code, such as `ctx.elicit("seat")`. */
  readonly label: string
  #isAwaited = false

  /** Makes `then` return plain promises. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  constructor(label: string, answer: Promise<Value>) {
    super((resolve) => resolve(answer))
    this.label = label
    this.onSettled(() => {})
  }

  get isAwaited(): boolean {
    return this.#isAwaited
  }

  // biome-ignore lint/suspicious/noThenProperty: this is a promise that records whether it is awaited
  override then<Fulfilled = Value, Rejected = never>(
    onFulfilled?: ((value: Value) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    this.#isAwaited = true
    return super.then(onFulfilled, onRejected)
  }

  /** Calls the listener when the promise settles. This does not count as awaiting it. */
  onSettled(listener: () => void): void {
    void super.then(listener, listener)
  }
}
