/** The tools of a server: registering, listing and calling them. */

import {
  type AnySchema,
  type AuthInfo,
  type Awaitable,
  type CallToolResult,
  type Context,
  isPromise,
  type JsonObject,
  type JsonSchema,
  type Tool,
  type ToolHandler,
  type ToolInputSchema,
} from '@mcpx/protocol'
import { text } from '../content.ts'
import { whenDone } from '../settle.ts'
import { ToolError } from '../tool-error.ts'
import { gateOf } from '../visibility.ts'
import type { Checked } from './compiled-schema.ts'
import { headerProblem } from './header-annotations.ts'
import { describeIssues } from './issues.ts'
import { createListing, type ListingOptions } from './listing.ts'
import { checkOffer } from './offer-form.ts'
import { RegistrationError } from './registration-error.ts'
import {
  createShownCheck,
  type PreparedSchema,
  prepareObjectSchema,
  prepareSchema,
  type SchemaOptions,
} from './schema.ts'
import { createShelf, isListed, type Shelved } from './shelf.ts'
import { present } from './shown.ts'
import type { ToolOptions } from './tool-options.ts'
import { createStructuring, type ToolResult, type ToResult, toPlainResult } from './tool-results.ts'

export type AnyRun = (args: never, ctx: Context) => unknown

export interface Tools {
  readonly handler: ToolHandler
  add(name: string, options: ToolOptions, run: AnyRun): void
  /** Whether there was one. */
  remove(name: string): boolean
  has(name: string): boolean
  /** The input schema of a tool in the lists of this caller. */
  schemaOf(name: string, auth: AuthInfo | undefined): JsonSchema | undefined
}

export interface ToolsOptions extends ListingOptions, SchemaOptions {}

interface RegisteredTool extends Shelved {
  readonly shown: Tool
  call(args: JsonObject, ctx: Context): Awaitable<ToolResult>
}

export function createTools(options: ToolsOptions): Tools {
  const shelf = createShelf<RegisteredTool>('tool')
  return {
    add(name, toolOptions, run) {
      shelf.put(makeTool(name, toolOptions, run, options), toolOptions.replace)
    },
    remove: (name) => shelf.remove(name),
    has: (name) => shelf.get(name) !== undefined,
    schemaOf(name, auth) {
      const tool = shelf.get(name)
      return tool && isListed(tool, auth) ? tool.shown.inputSchema : undefined
    },
    handler: {
      listTools: createListing(shelf, 'tools', options, (items, frame) => ({
        tools: items.map(({ shown }) => shown),
        ...frame,
      })),
      callTool(params, ctx) {
        const tool = shelf.find(params.name, ctx)
        try {
          const result = tool.call(params.arguments ?? {}, ctx)
          return isPromise(result) ? result.then(undefined, toFailure) : result
        } catch (error) {
          return toFailure(error)
        }
      },
    },
  }
}

/** What the tool says about its failure is for the caller; other errors are not. */
function toFailure(error: unknown): CallToolResult {
  if (error instanceof ToolError) return { content: [text(error.message)], isError: true }
  throw error
}

function makeTool(name: string, options: ToolOptions, run: AnyRun, use: ToolsOptions): RegisteredTool {
  const what = checkOffer('Tool', name, options, run)
  if (!/^[\w.-]{1,128}$/.test(name)) use.warn(`${what}: clients may refuse names other than 1-128 of A-Z a-z 0-9 _ . -`)
  const { input, output } = options
  const given =
    input && prepareObjectSchema(input, { ...use, where: `${what}, input`, side: 'input', root: 'arguments' })
  const problem = given && headerProblem(given.json, `${what}, input`)
  if (problem !== undefined) throw new RegistrationError(problem)
  const returned = output && prepareOutput(output, what, use)
  const shown: Tool = {
    name,
    inputSchema: (given?.json as ToolInputSchema | undefined) ?? { type: 'object', additionalProperties: false },
    ...present(options, 'title', 'description'),
    ...(returned && { outputSchema: returned.json }),
    ...present(options, 'annotations', 'icons', '_meta'),
  }
  const toResult = returned?.toResult ?? toPlainResult
  return { name, gate: gateOf(options), shown, call: createCall(given?.check, run, toResult) }
}

function prepareOutput(output: AnySchema, what: string, options: SchemaOptions) {
  const use = { ...options, where: `${what}, output`, side: 'output', root: 'result' } as const
  const { json, check } = prepareSchema(output, use)
  return { json, toResult: createStructuring(what, check, createShownCheck(output, json, use)) }
}

/** Waits for nothing that need not be waited for: the check, the tool and its result may each be at hand at once. */
function createCall(
  check: PreparedSchema['check'] | undefined,
  run: AnyRun,
  toResult: ToResult,
): (args: JsonObject, ctx: Context) => Awaitable<ToolResult> {
  const goOn = (args: unknown, ctx: Context) => whenDone(run(args as never, ctx), toResult)
  // What a tool without arguments is sent all the same does it no harm.
  if (check === undefined) return (_args, ctx) => goOn({}, ctx)
  const judge = ({ issues, value }: Checked, ctx: Context): Awaitable<ToolResult> => {
    if (issues === undefined) return goOn(value, ctx)
    return { content: [text(describeIssues(issues, 'arguments'))], isError: true }
  }
  return (args, ctx) => {
    const checked = check(args)
    // Without a function for each call that need not wait.
    return isPromise(checked) ? checked.then((settled) => judge(settled, ctx)) : judge(checked, ctx)
  }
}
