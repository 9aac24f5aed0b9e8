/** `approve`: runs selected tools only after a human has approved the call. */

import {
  type Awaitable,
  type CallToolRequestParams,
  type CallToolResult,
  type Context,
  quoted,
  type RequestedSchema,
  type Tool,
} from '@mcpx/protocol'
import { failedResult } from '../errors.ts'
import type { Middleware } from '../middleware.ts'
import { requireSupport } from '../questions.ts'
import { checkOptionNames } from '../registration.ts'

/** The decision about a call: a boolean, or the result of an elicitation, in which `accept` approves the call. */
export type Approval = boolean | { readonly action: 'accept' | 'decline' | 'cancel' }

/** Options of `approve`. */
export interface ApproveOptions {
  /** Returns whether a call needs approval. Default: true for all tools without `readOnlyHint: true`. */
  readonly when?: ((tool: Tool, call: CallToolRequestParams) => boolean | undefined) | undefined
  /** Asks for approval, once per call. Default: shows the user a form with the tool's name and the arguments. */
  readonly ask?: ((call: CallToolRequestParams, ctx: Context) => Awaitable<Approval>) | undefined
  /** The text of the form before the arguments. Default: a question that names the tool. */
  readonly message?: string | ((tool: Tool, call: CallToolRequestParams) => string) | undefined
  /** The key of the question. Two `approve` middlewares on one server need different keys. Default: `mcpx.approve.<tool>`. */
  readonly key?: string | undefined
}

/** The largest number of characters of the arguments in the form. The form shows how many characters were omitted. */
const MAX_ARGUMENTS_LENGTH = 2_000

/** A form without fields, because accepting it is the approval. */
const FORM: RequestedSchema = { type: 'object', properties: {} }

/**
 * Creates a middleware that asks before a tool runs. Without approval the tool does not run, and the call returns a result
 * with `isError`. If the client does not support forms, the call fails with an error that names the missing capabilities.
 * Calls of tools that are not in the tool list pass without approval, so list every tool that can be called.
 *
 * ```ts
 * server.use(approve({ when: (tool) => tool.annotations?.destructiveHint !== false }))
 * ```
 */
export function approve(options: ApproveOptions = {}): Middleware {
  checkOptionNames('approve', options, ['when', 'ask', 'message', 'key'] satisfies (keyof ApproveOptions)[])
  const { when = mayChange } = options
  return async (request, ctx, next, findTool) => {
    if (request.method !== 'tools/call') return next()
    const call = request.params as CallToolRequestParams
    const tool = await findTool(call.name, ctx)
    if (tool === undefined || when(tool, call) !== true) return next()
    return (await isApproved(options, tool, call, ctx)) ? next() : refusal(call)
  }
}

function mayChange({ annotations }: Tool): boolean {
  return annotations?.readOnlyHint !== true
}

async function isApproved(
  options: ApproveOptions,
  tool: Tool,
  call: CallToolRequestParams,
  ctx: Context,
): Promise<boolean> {
  const { ask, message, key = `mcpx.approve.${tool.name}` } = options
  // `ctx.step` keeps the approval when the handler runs again after a later question.
  if (ask !== undefined) return ctx.step(key, async () => isYes(await ask(call, ctx)))
  const intro = typeof message === 'function' ? message(tool, call) : (message ?? question(tool, call))
  const text = `${intro}\n\n${describeValue(call.arguments ?? {}, MAX_ARGUMENTS_LENGTH)}`
  // Do not use `onUnsupported`: a server may answer other questions for its clients, but must not approve calls for its
  // users.
  const params = { mode: 'form', message: text, requestedSchema: FORM } as const
  requireSupport({ method: 'elicitation/create', params }, ctx.client.capabilities)
  return ctx.elicit(key, { message: text, schema: FORM }).then(isYes)
}

function isYes(approval: Approval): boolean {
  return approval === true || (typeof approval === 'object' && approval.action === 'accept')
}

function question({ title, annotations }: Tool, { name }: CallToolRequestParams): string {
  const label = title ?? annotations?.title
  return `Run the tool ${quoted(name)}${label === undefined ? '' : ` (${label})`} with these arguments?`
}

const declined = new WeakSet<object>()

/** Returns whether a result comes from `approve`, which has refused the call, and not from a tool. */
export function isDeclined(result: object): boolean {
  return declined.has(result)
}

function refusal({ name }: CallToolRequestParams): CallToolResult {
  const problem = `The call of ${quoted(name)} was not approved. It did not run; do not try again unless the user asks for it.`
  const result = failedResult(problem)
  declined.add(result)
  return result
}

/** Longer strings within a value are cut, so that other members stay visible. */
const MAX_STRING_LENGTH = 300

/** Longer JSON is written without line breaks: the indentation of deep values can take far more memory than the values. */
const MAX_INDENTED_LENGTH = 65_536

/**
 * Characters that are invisible or change the display of other characters: control and format characters, line and
 * paragraph separators.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Writes a value as JSON for humans. Invisible characters are escaped, and the length is limited. */
function describeValue(value: unknown, maxLength: number): string {
  const shortened = (_: string, member: unknown) => (typeof member === 'string' ? shorten(member) : member)
  const compact = JSON.stringify(value, shortened) ?? ''
  const json = compact.length > MAX_INDENTED_LENGTH ? compact : (JSON.stringify(value, shortened, 2) ?? '')
  const lines = json.split('\n').map((line) => line.replace(INVISIBLE, escapeCharacter))
  const description = lines.join('\n')
  if (description.length <= maxLength) return description
  return `${description.slice(0, maxLength)}\n… (${description.length - maxLength} more characters)`
}

function shorten(value: string): string {
  if (value.length <= MAX_STRING_LENGTH) return value
  return `${value.slice(0, MAX_STRING_LENGTH)}… (${value.length - MAX_STRING_LENGTH} more characters)`
}

function escapeCharacter(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
}
