/** A human in the loop: chosen tools run only when somebody has said yes. */

import {
  type Awaitable,
  type CallToolRequestParams,
  type CallToolResult,
  type Context,
  quoted,
  type RequestedSchema,
  type Tool,
} from '@mcpx/protocol'
import type { Middleware } from '../middleware.ts'
import { markDeclined } from './declined.ts'
import { shownValue } from './shown-value.ts'

/** Yes or no, or what came of a question to the user: `accept` means yes. */
export type Approval = boolean | { readonly action: 'accept' | 'decline' | 'cancel' }

export interface ApproveOptions {
  /** Which calls need approval. Default: those of all tools that do not claim, by `readOnlyHint`, to change nothing. */
  readonly when?: ((tool: Tool, call: CallToolRequestParams) => boolean | undefined) | undefined
  /** Asks somebody; runs once per call. Default: the user, by a form that shows the tool's name and the arguments. */
  readonly ask?: ((call: CallToolRequestParams, ctx: Context) => Awaitable<Approval>) | undefined
  /** What the form says before the arguments. Default: a question that names the tool. */
  readonly message?: string | ((tool: Tool, call: CallToolRequestParams) => string) | undefined
  /** Names the question among those of a call: give two of these middlewares on one server different ones. Default: `mcpx.approve.` and the tool's name. */
  readonly key?: string | undefined
}

/** How much of the arguments is shown, in characters; what is left out is counted. */
const SHOWN = 2_000

/** Accepting it is the answer: there is nothing to fill in. */
const FORM: RequestedSchema = { type: 'object', properties: {} }

/**
 * Asks before a tool runs. Without a yes the tool does not run, and the call's result says so, with `isError`. A
 * client that cannot be asked gets an error that names what it lacks. Tools that are not in the list pass: it is for
 * the handler to say that there is no such tool, so list all that can be called.
 *
 * ```ts
 * server.use(approve({ when: (tool) => tool.annotations?.destructiveHint !== false }))
 * ```
 */
export function approve(options: ApproveOptions = {}): Middleware {
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

function isApproved(options: ApproveOptions, tool: Tool, call: CallToolRequestParams, ctx: Context): Promise<boolean> {
  const { ask, message, key = `mcpx.approve.${tool.name}` } = options
  // Where the handler is entered again for a later question, the answer stands.
  if (ask !== undefined) return ctx.step(key, async () => isYes(await ask(call, ctx)))
  const intro = typeof message === 'function' ? message(tool, call) : (message ?? question(tool, call))
  const text = `${intro}\n\n${shownValue(call.arguments ?? {}, SHOWN)}`
  return ctx.elicit(key, { message: text, schema: FORM }).then(isYes)
}

function isYes(approval: Approval): boolean {
  return approval === true || (typeof approval === 'object' && approval.action === 'accept')
}

function question({ title, annotations }: Tool, { name }: CallToolRequestParams): string {
  const shown = title ?? annotations?.title
  return `Run the tool ${quoted(name)}${shown === undefined ? '' : ` (${shown})`} with these arguments?`
}

function refusal({ name }: CallToolRequestParams): CallToolResult {
  const text = `The call of ${quoted(name)} was not approved. It did not run; do not try again unless the user asks for it.`
  return markDeclined({ content: [{ type: 'text', text }], isError: true })
}
