/** Proposes values for the arguments of prompts and the variables of resource templates. */

import {
  type Awaitable,
  type CompleteRequestParams,
  type CompleteResult,
  type Context,
  invalidParams,
  type OtherHandler,
  quoted,
} from '@mcpx/protocol'
import type { Prompts } from './prompts.ts'
import type { Resources } from './resources.ts'

/** Proposed values, and the total number of values. */
export interface Proposals {
  readonly values: readonly string[]
  readonly total?: number
  readonly hasMore?: boolean
}

/**
 * Proposes values for a partial input, the best first. `known` contains the values of the other arguments so far. Only
 * the first 100 values are sent. If the completer is a plain list, it proposes the values that begin with the input.
 */
export type Completer =
  | readonly string[]
  | ((typed: string, known: Readonly<Record<string, string>>, ctx: Context) => Awaitable<readonly string[] | Proposals>)

/** Completers by the name of the argument or variable. */
export type Completers = Readonly<Record<string, Completer | undefined>>

const MAX_VALUES = 100

/** Creates the `complete` handler. It returns no proposals without a completer, and throws for an unknown argument. */
export function createCompletion(prompts: Prompts, resources: Resources): OtherHandler['complete'] {
  function find(ref: CompleteRequestParams['ref'], ctx: Context): { names: readonly string[]; completers: Completers } {
    if (ref.type === 'ref/prompt') {
      const prompt = prompts.find(ref.name, ctx)
      return { names: prompt.arguments.map(({ name }) => name), completers: prompt.completers }
    }
    const resource = resources.findReference(ref, ctx)
    if (resource === undefined) throw invalidParams(`Unknown resource template: ${quoted(ref.uri)}`)
    return { names: resource.variables, completers: resource.completers }
  }

  return async ({ ref, argument, context }, ctx) => {
    const { names, completers } = find(ref, ctx)
    if (!names.includes(argument.name)) throw invalidParams(`Unknown argument: ${quoted(argument.name)}`)
    const completer = Object.hasOwn(completers, argument.name) ? completers[argument.name] : undefined
    if (completer === undefined) return { completion: { values: [], total: 0, hasMore: false } }
    if (typeof completer === 'function') {
      return toCompleteResult(await completer(argument.value, context?.arguments ?? {}, ctx))
    }
    const start = argument.value.toLowerCase()
    return toCompleteResult(completer.filter((value) => value.toLowerCase().startsWith(start)))
  }
}

function toCompleteResult(proposed: readonly string[] | Proposals): CompleteResult {
  const { values, total, hasMore } = isList(proposed) ? { values: proposed, total: proposed.length } : proposed
  const completion: CompleteResult['completion'] = { values: values.slice(0, MAX_VALUES) }
  const isCut = values.length > MAX_VALUES
  if (total !== undefined) completion.total = total
  completion.hasMore = isCut || (hasMore ?? (total !== undefined && total > values.length))
  return { completion }
}

function isList(proposed: readonly string[] | Proposals): proposed is readonly string[] {
  return Array.isArray(proposed)
}
