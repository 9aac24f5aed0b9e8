/** Input requests to the client: how handlers write them, and the rules that they must keep. The eras send them. */

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
  ElicitRequestURLParams,
  type ElicitResult,
  type FormSchema,
  formProblem,
  type InputRequest,
  type InputRequiredResult,
  type InputResponse,
  internalError,
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
} from '@mcpx/protocol'
import { QuestionError } from './errors.ts'
import { createStandardCheck } from './schema-check.ts'

/** Returns the value that the handler gets, or why the question is to be asked again. */
export type AnswerCheck = (response: InputResponse) => Awaitable<{ value: unknown } | { problem: string }>

/** An input request within a handler, and the check of its response. */
export interface Question {
  /** The input request as the protocol sends it. */
  readonly request: InputRequest
  /** Default: every answer of the right kind is accepted. */
  readonly check?: AnswerCheck
}

export type Questions = Readonly<Record<string, Question>>

/** Sends the questions of one call to the client. Each era has its own. */
export interface Asker {
  /**
   * The answers by the keys of the questions. Questions that the client cannot be asked are left out; when none is left,
   * rejects with the capabilities that the client would have to declare.
   *
   * @param askedKeys the keys that this run of the handler used before; the keys of these questions are added
   */
  ask(questions: Questions, askedKeys: Set<string>): Promise<Readonly<Record<string, unknown>>>
  /** The result of a step, which runs once per call. */
  step<Result>(key: string, run: () => Awaitable<Result>): Promise<Result>
  /** The result that asks the questions which the client has yet to answer; modern era only. */
  unfinished?(): InputRequiredResult | undefined
  /** Called when the call has ended successfully. */
  finish?(): Promise<void>
}

/**
 * Asks the user to fill in a form. Throws a `QuestionError` for a schema that no form can show.
 *
 * ```ts
 * const { seat, meal } = await ctx.ask({
 *   seat: elicit({ message: 'Which seat?', schema: z.object({ row: z.number().int() }) }),
 *   meal: elicit({ message: 'Which meal?', schema: z.object({ meal: z.enum(['fish', 'pasta']) }) }),
 * })
 * ```
 */
export function elicit<Form extends FormSchema>({ message, schema }: ElicitOptions<Form>): Ask<ElicitOutcome<Form>> {
  const requestedSchema = toRequestedSchema(schema)
  return {
    request: { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } },
    check: (response) => checkForm(schema, requestedSchema, response) as Promise<{ value: ElicitOutcome<Form> }>,
  }
}

/** Asks the user to visit a URL. `accept` means that the user agreed to, not that the visit is complete. */
export function openUrl({ message, url }: OpenUrlOptions): Ask<ElicitResult> {
  return { request: { method: 'elicitation/create', params: { mode: 'url', message, url } } }
}

/**
 * Asks the client's model.
 *
 * @deprecated The protocol may drop sampling from its first revision on or after 2027-07-28 on (SEP-2577): call the
 * model's provider.
 */
export function sample(params: SampleParams): Ask<CreateMessageResult> {
  return { request: { method: 'sampling/createMessage', params } }
}

/**
 * Asks for the folders that the client works in.
 *
 * @deprecated The protocol may drop roots from its first revision on or after 2027-07-28 on (SEP-2577): take folders as
 * arguments, URIs or configuration.
 */
export function roots(): Ask<Root[]> {
  return {
    request: { method: 'roots/list' },
    check: (response) => ({ value: (response as ListRootsResult).roots }),
  }
}

/** The JSON Schema keywords that a form field supports; others are left out. */
const KEYWORDS =
  /^(?:type|title|description|default|enum|enumNames|oneOf|format|minimum|maximum|items|(?:min|max)(?:Length|Items))$/
const FORMATS = /^(?:email|uri|date|date-time)$/

/** Throws a `QuestionError` for a schema that no form can show; it names the field. */
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
    throw new QuestionError(`A form can only ask for strings, numbers, booleans and choices. ${problem}`)
  }
  return form as unknown as RequestedSchema
}

function toFormField(field: JsonObject): JsonObject {
  const options = field.anyOf
  // Libraries write titled choices as a union of constants.
  const isChoice = Array.isArray(options) && options.every((option) => typeof option?.const === 'string')
  const oneOf = isChoice && options.map((option) => ({ const: option.const, title: option.title ?? option.const }))
  const source = oneOf ? { ...field, type: 'string', oneOf } : field
  return Object.fromEntries(
    Object.entries(source).filter(([key, value]) => KEYWORDS.test(key) && isSupported(key, value)),
  )
}

/** Leaves out formats that forms do not have, and the bounds that libraries add to every integer. */
function isSupported(key: string, value: unknown): boolean {
  if (key === 'format') return FORMATS.test(String(value))
  return !/imum$/.test(key) || Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER
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

/** The keys of one call. An answer fits one kind of question only, so each key names one kind in all runs of the call. */
export type QuestionKinds = Map<string, string>

/**
 * Checks questions before they are sent, and returns those that the client can be asked.
 *
 * @param declaresContext whether clients of the revision declare that they support the context of servers; in other
 * revisions they just support it
 * @throws QuestionError for a question that breaks a rule of the protocol, or a key that was used before
 * @throws RpcError when the client can be asked none of them; it names the missing capabilities
 */
export function claimQuestions(
  questions: Questions,
  kinds: QuestionKinds,
  askedKeys: Set<string>,
  capabilities: ClientCapabilities,
  declaresContext: boolean,
): [string, Question][] {
  const usable = usableQuestions(questions, capabilities, declaresContext)
  for (const [key, { request }] of usable) {
    claimKind(kinds, key, request)
    if (askedKeys.has(key)) {
      const remedy = 'give each question a key of its own, such as `seat-2` for the second'
      throw new QuestionError(`Question ${quoted(key)}: the key was used already in this run of the handler; ${remedy}`)
    }
    askedKeys.add(key)
  }
  return usable
}

/** Leaves out questions that the client cannot be asked. Throws when none is left, and for a question that breaks a rule. */
export function usableQuestions(
  questions: Questions,
  capabilities: ClientCapabilities,
  declaresContext: boolean,
): [string, Question][] {
  const missing: JsonObject = {}
  const all = Object.entries(questions)
  for (const [key, { request }] of all) checkQuestion(key, request)
  const usable = all.filter(([, { request }]) => {
    const lacking = missingCapabilities(request, capabilities, declaresContext)
    for (const key in lacking) missing[key] = { ...(missing[key] as object), ...(lacking[key] as object) }
    return lacking === undefined
  })
  if (usable.length === 0 && all.length > 0) throw missingClientCapability(missing)
  return usable
}

function claimKind(kinds: QuestionKinds, key: string, { method, params }: InputRequest): void {
  const kind = isUrlMode(params) ? `${method} url` : method
  const known = kinds.get(key) ?? kind
  if (known !== kind) {
    const detail = `${kind}, and before ${known}; give each question a key of its own`
    throw new QuestionError(`Question ${quoted(key)}: the key names a question of another kind in this call: ${detail}`)
  }
  kinds.set(key, kind)
}

const problems: Readonly<Record<string, (request: InputRequest) => string | undefined>> = {
  'elicitation/create': elicitationProblem,
  // Whether the client supports tools is checked with its capabilities.
  'sampling/createMessage': ({ params }) =>
    check(CreateMessageRequestParamsShape, params, 'params').problem ??
    samplingProblem(params as CreateMessageRequestParams, true),
  'roots/list': (request) => check(ListRootsRequest, request).problem,
}

/** Throws a `QuestionError` that names the key, the place, and what is wrong there. */
function checkQuestion(key: string, request: InputRequest): void {
  const problem = questionProblem(request)
  if (problem !== undefined) throw new QuestionError(`Question ${quoted(key)}: ${problem}`)
}

function questionProblem(request: InputRequest): string | undefined {
  if (typeof request !== 'object' || request === null) return `expected a request, got ${kindOf(request)}`
  const method: unknown = request.method
  if (typeof method === 'string' && Object.hasOwn(problems, method)) return problems[method]?.(request)
  const known = Object.keys(problems).join(', ')
  return `${typeof method === 'string' ? quoted(method) : kindOf(method)} cannot be asked; what can be is ${known}`
}

function elicitationProblem({ params }: InputRequest): string | undefined {
  const isUrl = isUrlMode(params)
  const { problem } = check<unknown>(isUrl ? ElicitRequestURLParams : ElicitRequestFormParams, params, 'params')
  if (problem !== undefined) return problem
  if (isUrl) {
    const { url } = params as ElicitRequestURLParams
    return URL.canParse(url) ? undefined : `params.url: ${quoted(url)} is no URL; it has to begin with a scheme`
  }
  const { properties, required = [] } = (params as ElicitRequestFormParams).requestedSchema
  const stray = required.findIndex((name) => !Object.hasOwn(properties, name))
  if (stray < 0) return undefined
  return `params.requestedSchema.required[${stray}]: there is no field ${quoted(required[stray] as string)}`
}

function isUrlMode(params: unknown): boolean {
  return (params as { mode?: unknown } | undefined)?.mode === 'url'
}

/** The capabilities that the client would have to declare for this question; undefined when it declared them. */
function missingCapabilities(
  { method, ...request }: InputRequest,
  { elicitation, sampling, roots }: ClientCapabilities,
  declaresContext: boolean,
): JsonObject | undefined {
  const params = ('params' in request ? request.params : undefined) as JsonObject | undefined
  if (method === 'roots/list') return roots ? undefined : { roots: {} }
  if (method === 'elicitation/create') {
    if (isUrlMode(params)) return elicitation?.url ? undefined : { elicitation: { url: {} } }
    // An empty object means forms.
    return elicitation && (elicitation.form ?? !elicitation.url) ? undefined : { elicitation: { form: {} } }
  }
  if ((params?.tools ?? params?.toolChoice) !== undefined && !sampling?.tools) return { sampling: { tools: {} } }
  const { includeContext = 'none' } = params ?? {}
  if (includeContext !== 'none' && declaresContext && !sampling?.context) return { sampling: { context: {} } }
  return sampling ? undefined : { sampling: {} }
}

/** The same question again; a form says what was wrong with the answer. */
export function repeatQuestion(request: InputRequest, problem: string): InputRequest {
  const { method, params } = request as { method: string; params?: JsonObject }
  if (method !== 'elicitation/create' || isUrlMode(params)) return request
  return { ...request, params: { ...params, message: `${params?.message} (${problem})` } } as InputRequest
}

/** The result of a step as JSON: the modern era sends it to the client and back. */
export function toStepResult(key: string, value: unknown): unknown {
  try {
    return value === undefined ? null : JSON.parse(JSON.stringify(value))
  } catch (cause) {
    throw internalError(`The result of step ${JSON.stringify(key)} cannot be written as JSON`, { cause })
  }
}

/** Starts a task on the first call with a key; later calls get the same promise. */
export function startOnce<Value>(
  started: Map<string, Promise<Value>>,
  key: string,
  start: () => Promise<Value>,
): Promise<Value> {
  const promise = started.get(key) ?? start()
  started.set(key, promise)
  return promise
}

/** The promise of a question or a step. It knows whether it was awaited, and never causes an unhandled rejection. */
export class PendingAnswer<Value> extends Promise<Value> {
  /** The call as the author wrote it, such as `ctx.elicit("seat")`. */
  readonly label: string
  #isAwaited = false

  /** `then` returns plain promises. */
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

  // biome-ignore lint/suspicious/noThenProperty: it is a promise, and notes who awaits it
  override then<Fulfilled = Value, Rejected = never>(
    onFulfilled?: ((value: Value) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    this.#isAwaited = true
    return super.then(onFulfilled, onRejected)
  }

  /** Calls the listener when the promise settles. That does not count as awaiting it. */
  onSettled(listener: () => void): void {
    void super.then(listener, listener)
  }
}
