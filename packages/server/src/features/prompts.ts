/** The prompts of a server: registering, listing and filling them in. */

import {
  type Awaitable,
  type Context,
  type GetPromptResult,
  type InputRequiredResult,
  invalidParams,
  type JsonObject,
  type Prompt,
  type PromptArgument,
  type PromptHandler,
  quoted,
} from '@mcpx/protocol'
import { whenDone } from '../settle.ts'
import { gateOf } from '../visibility.ts'
import type { Checked } from './compiled-schema.ts'
import type { Completers } from './completers.ts'
import { describeIssues } from './issues.ts'
import { createListing, type ListingOptions } from './listing.ts'
import { checkOffer } from './offer-form.ts'
import { argumentsOf, missingArgument } from './prompt-arguments.ts'
import type { PromptOptions } from './prompt-options.ts'
import { toPromptResult } from './prompt-results.ts'
import { RegistrationError } from './registration-error.ts'
import { prepareObjectSchema, type SchemaOptions } from './schema.ts'
import { createShelf, type Shelved } from './shelf.ts'
import { present } from './shown.ts'

export type AnyGet = (args: never, ctx: Context) => unknown

export interface PromptEntry extends Shelved {
  readonly shown: Prompt
  readonly declared: readonly PromptArgument[]
  readonly completers: Completers
  get(args: JsonObject, ctx: Context): Awaitable<GetPromptResult | InputRequiredResult>
}

export interface Prompts {
  readonly handler: PromptHandler
  add(name: string, options: PromptOptions, get: AnyGet): void
  /** Whether there was one. */
  remove(name: string): boolean
  has(name: string): boolean
  /** The prompt of this name. Throws where there is none for this caller. */
  find(name: string, ctx: Context): PromptEntry
}

export interface PromptsOptions extends ListingOptions, SchemaOptions {}

export function createPrompts(options: PromptsOptions): Prompts {
  const shelf = createShelf<PromptEntry>('prompt')
  return {
    add(name, promptOptions, get) {
      shelf.put(makePrompt(name, promptOptions, get, options), promptOptions.replace)
    },
    remove: (name) => shelf.remove(name),
    has: (name) => shelf.get(name) !== undefined,
    find: shelf.find,
    handler: {
      listPrompts: createListing(shelf, 'prompts', options, (items, frame) => ({
        prompts: items.map(({ shown }) => shown),
        ...frame,
      })),
      getPrompt(params, ctx) {
        return shelf.find(params.name, ctx).get(params.arguments ?? {}, ctx)
      },
    },
  }
}

function makePrompt(name: string, options: PromptOptions, get: AnyGet, use: PromptsOptions): PromptEntry {
  const what = checkOffer('Prompt', name, options, get)
  const { args, description } = options
  const where = `${what}, args`
  const given = args && prepareObjectSchema(args, { ...use, where, side: 'input', root: 'arguments' })
  const declared = given === undefined ? [] : argumentsOf(given.json, where)
  const completers: Completers = options.complete ?? {}
  const stray = Object.keys(completers).find((key) => !declared.some((argument) => argument.name === key))
  if (stray !== undefined) throw new RegistrationError(`${what}, complete: there is no argument ${quoted(stray)}`)
  const shown: Prompt = {
    name,
    ...present(options, 'title', 'description'),
    ...(declared.length > 0 && { arguments: declared }),
    ...present(options, 'icons', '_meta'),
  }
  const fill = ({ issues, value }: Checked, ctx: Context) => {
    if (issues !== undefined) throw invalidParams(describeIssues(issues, 'arguments'))
    return whenDone(get(value as never, ctx), (given) => toPromptResult(given, what, description))
  }
  return {
    name,
    gate: gateOf(options),
    shown,
    declared,
    completers,
    get(values, ctx) {
      if (given === undefined) return fill({ value: {} }, ctx)
      const missing = missingArgument(declared, values)
      if (missing !== undefined) throw invalidParams(missing)
      return whenDone(given.check(values), (checked) => fill(checked, ctx))
    },
  }
}
