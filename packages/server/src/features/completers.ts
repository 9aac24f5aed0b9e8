/** Proposes values for the arguments of prompts and the variables of resource templates. */

import type { Awaitable, CompleteResult, Context } from '@mcpx/protocol'
import { whenDone } from '../settle.ts'

/** Proposals as the protocol has them: some of the values, and how many there are. */
export interface Proposals {
  readonly values: readonly string[]
  readonly total?: number
  readonly hasMore?: boolean
}

/**
 * Proposes values for what was typed so far, best first; `known` are the arguments that are filled in already. Of
 * more than 100 values only the first 100 are sent. A plain list is searched for values that begin with what was
 * typed.
 */
export type Completer =
  | readonly string[]
  | ((typed: string, known: Readonly<Record<string, string>>, ctx: Context) => Awaitable<readonly string[] | Proposals>)

/** Under the names of what they complete. */
export type Completers = Readonly<Record<string, Completer | undefined>>

const MAX_VALUES = 100

/** What is known to the completer besides what was typed. */
export interface Asked {
  readonly typed: string
  readonly known: Readonly<Record<string, string>>
}

export function runCompleter(
  completer: Completer | undefined,
  { typed, known }: Asked,
  ctx: Context,
): Awaitable<CompleteResult> {
  if (completer === undefined) return { completion: { values: [], total: 0, hasMore: false } }
  if (typeof completer !== 'function') {
    const start = typed.toLowerCase()
    return toResult(completer.filter((value) => value.toLowerCase().startsWith(start)))
  }
  return whenDone(completer(typed, known, ctx), toResult)
}

function toResult(proposed: readonly string[] | Proposals): CompleteResult {
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
