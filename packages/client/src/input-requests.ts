/** Answers the input requests of servers (elicitation, sampling, roots) with the callbacks of the client. */

import {
  type ClientCapabilities,
  ConnectionError,
  type CreateMessageRequestParams,
  CreateMessageResult,
  check,
  type ElicitRequestParams,
  type ElicitResult,
  ErrorCode,
  formProblem,
  guarded,
  type InputRequest,
  type InputResponse,
  invalidParams,
  isObject,
  kindOf,
  type ListRootsResult,
  methodNotFound,
  quoted,
  RpcError,
  samplingProblem,
  withFormDefaults,
} from '@mcpx/protocol'
import type { CallOptions, ClientOptions, ElicitAnswer, Elicitation, InputRequestOrigin } from './options.ts'
import type { ClientState } from './state.ts'

/** The option of `connect` that answers each kind of input request. */
export const INPUT_CALLBACKS: Readonly<Record<InputRequest['method'], string>> = {
  'elicitation/create': 'onElicit',
  'sampling/createMessage': 'onSample',
  'roots/list': 'roots',
}

/** How many input requests of one call are answered at the same time. */
export const MAX_CONCURRENT_INPUT = 16
/** The default limit of input requests that a server sends at once. */
export const MAX_INPUT_REQUESTS = 100
/** The default of `maxRounds`: how often one call may return input requests. */
export const MAX_ROUNDS = 10

/** A callback returned a value that cannot be sent. The message names the callback and contains no value of the user. */
export class InvalidAnswer extends TypeError {}

/** Returns the capabilities that the callbacks support. */
export function declaredCapabilities(options: ClientOptions): ClientCapabilities {
  const { onElicit, onSample, roots, sampling = {} } = options
  const capabilities: ClientCapabilities = { ...options.capabilities }
  if (onElicit !== undefined) {
    capabilities.elicitation = Object.fromEntries(elicitationModes(options).map((mode) => [mode, {}]))
  }
  if (onSample !== undefined) {
    capabilities.sampling = { ...(sampling.tools && { tools: {} }), ...(sampling.context && { context: {} }) }
  }
  if (roots !== undefined) capabilities.roots = {}
  return capabilities
}

/**
 * Answers an input request with `onInputRequest` of the call, otherwise with the callbacks of the client. If the
 * callback fails, rejects with a `ConnectionError` that names the callback.
 */
export async function answerForCall(
  {
    label,
    state,
    onInputRequest,
  }: { label: string; state: ClientState; onInputRequest: CallOptions['onInputRequest'] },
  request: InputRequest,
  origin: InputRequestOrigin,
): Promise<InputResponse> {
  try {
    const answer = async () => (onInputRequest ?? state.answerInput)(request, origin)
    const work = { kind: 'input', method: request.method, params: request.params } as const
    return await (state.reporter?.work(work, answer) ?? answer())
  } catch (error) {
    const callback = onInputRequest === undefined ? INPUT_CALLBACKS[request.method] : 'onInputRequest'
    throw origin.signal.aborted ? error : unansweredError(label, request.method, callback, error)
  }
}

/** @param callback the option whose callback failed. */
function unansweredError(
  label: string,
  asked: keyof typeof INPUT_CALLBACKS,
  callback: string,
  cause: unknown,
): ConnectionError {
  const option = INPUT_CALLBACKS[asked]
  const code = cause instanceof RpcError ? cause.code : undefined
  if (code === ErrorCode.MethodNotFound || code === ErrorCode.InvalidParams) {
    const hint = `Pass ${option} to connect.`
    const message = `${label} cannot continue: the server sent ${asked}, which this client did not declare`
    return new ConnectionError('invalid-message', `${message}. ${(cause as RpcError).message}`, { hint, cause })
  }
  const message = `${label} cannot continue: ${asked} failed`
  if (cause instanceof InvalidAnswer) {
    const hint = `Correct the value that ${callback} returns.`
    return new ConnectionError('cancelled', `${message}. ${cause.message}`, { hint, cause })
  }
  return new ConnectionError('cancelled', message, { hint: `The cause is the error that ${callback} threw.`, cause })
}

export function inputLimitError(label: string, count: number, limit: number): ConnectionError {
  const hint = 'Pass a larger maxInputRequests to connect if the server needs that many input requests.'
  return new ConnectionError('limit', `${label}: expected at most ${limit} input requests, got ${count}`, { hint })
}

/** Answers one input request. Throws an `RpcError` if its capability was not declared. Errors of callbacks are rethrown. */
export async function answerInputRequest(
  options: ClientOptions,
  request: InputRequest,
  origin: InputRequestOrigin,
): Promise<InputResponse> {
  switch (request.method) {
    case 'elicitation/create':
      return elicit(options, request.params, origin)
    case 'sampling/createMessage':
      return sample(options, request.params, origin)
    case 'roots/list':
      return listRoots(options)
  }
}

async function elicit(
  options: ClientOptions,
  params: ElicitRequestParams,
  origin: InputRequestOrigin,
): Promise<ElicitResult> {
  const { onElicit } = options
  if (onElicit === undefined) throw methodNotFound('elicitation/create')
  const mode = params.mode ?? 'form'
  if (!elicitationModes(options).includes(mode)) {
    throw invalidParams(`params.mode: the client did not declare ${quoted(mode)}`)
  }
  if (params.mode === 'url') {
    const { message, url } = params
    if (!isAllowedUrl(options, url)) {
      guarded(options.onWarning)(refusedUrlError(url))
      return { action: 'decline' }
    }
    const { action } = checkElicitAnswer(await onElicit({ mode: 'url', message, url, ...origin }))
    return { action }
  }
  const { message, requestedSchema: schema } = params
  const { action, content } = checkElicitAnswer(await onElicit({ mode: 'form', message, schema, ...origin }))
  if (action !== 'accept') return { action }
  const filled = withFormDefaults(schema, content)
  const problem = formProblem(schema, filled)
  if (problem !== undefined) throw new InvalidAnswer(`onElicit returned values that do not fit the form. ${problem}`)
  return { action, content: filled as NonNullable<ElicitResult['content']> }
}

function isAllowedUrl({ allowUrl = isSecureUrl }: ClientOptions, url: string): boolean {
  return URL.canParse(url) && allowUrl(new URL(url)) === true
}

const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

function isSecureUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK_HOST.test(hostname))
}

function refusedUrlError(url: string): ConnectionError {
  const hint = 'Pass allowUrl to connect if onElicit handles such URLs.'
  const expected = 'expected https:, or http: on a loopback host'
  const message = `A URL elicitation was declined. params.url: ${expected}, got ${quoted(url)}`
  return new ConnectionError('invalid-message', message, { hint })
}

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel']

function checkElicitAnswer(answer: ElicitAnswer): ElicitAnswer {
  const expected = 'expected { action: "accept", content }, { action: "decline" } or { action: "cancel" }'
  if (!isObject(answer)) throw new InvalidAnswer(`onElicit: ${expected}, got ${kindOf(answer)}`)
  const action: unknown = answer.action
  if (ACTIONS.includes(action)) return answer
  const shown = typeof action === 'string' ? quoted(action) : kindOf(action)
  throw new InvalidAnswer(`onElicit: ${expected}, got the action ${shown}`)
}

async function sample(options: ClientOptions, params: CreateMessageRequestParams, origin: InputRequestOrigin) {
  const { onSample, sampling } = options
  if (onSample === undefined) throw methodNotFound('sampling/createMessage')
  const refusal = samplingProblem(params, sampling?.tools === true)
  if (refusal !== undefined) throw invalidParams(refusal)
  const message = await onSample(params, origin)
  const { problem } = check(CreateMessageResult, message, 'message')
  if (problem !== undefined) throw new InvalidAnswer(`onSample returned an invalid message. ${problem}`)
  return message
}

async function listRoots({ roots }: ClientOptions): Promise<ListRootsResult> {
  if (roots === undefined) throw methodNotFound('roots/list')
  const list = typeof roots === 'function' ? await roots() : roots
  checkRoots(list, 'a function that returns an array')
  return { roots: [...list] }
}

/** Throws `InvalidAnswer` unless this is an array of roots with `file:` URIs. JavaScript code may pass anything. */
export function checkRoots(roots: unknown, expected = 'an array of roots, or a function that returns one'): void {
  if (!Array.isArray(roots)) throw new InvalidAnswer(`roots: expected ${expected}, got ${kindOf(roots)}`)
  roots.forEach((root: unknown, index) => {
    const place = `roots[${index}]`
    if (!isObject(root) || root instanceof URL) {
      const remedy = typeof root === 'string' || root instanceof URL ? `{ uri: ${quoted(String(root))} }` : '{ uri }'
      throw new InvalidAnswer(`${place}: expected ${remedy}, got ${kindOf(root)}`)
    }
    const { uri } = root
    if (typeof uri === 'string' && /^file:\/\//i.test(uri) && URL.canParse(uri)) return
    const got = typeof uri === 'string' ? quoted(uri) : kindOf(uri)
    throw new InvalidAnswer(`${place}.uri: expected a file: URI, got ${got}`)
  })
}

function elicitationModes({ elicitationModes = ['form', 'url'] }: ClientOptions): readonly Elicitation['mode'][] {
  return elicitationModes
}
