/** Answers requests for completion. */

import { type CompleteRequestParams, type Context, invalidParams, type OtherHandler, quoted } from '@mcpx/protocol'
import { type Completers, runCompleter } from './completers.ts'
import type { Prompts } from './prompts.ts'
import type { Resources } from './resources.ts'

/** What can be completed: the names, and the completers that some of them have. */
interface Blanks {
  readonly names: readonly string[]
  readonly completers: Completers
}

/** A blank without a completer has no proposals; one that does not exist is an error. */
export function createCompletion(prompts: Prompts, resources: Resources): OtherHandler['complete'] {
  function blanksOf(ref: CompleteRequestParams['ref'], ctx: Context): Blanks {
    if (ref.type === 'ref/prompt') {
      const prompt = prompts.find(ref.name, ctx)
      return { names: prompt.declared.map(({ name }) => name), completers: prompt.completers }
    }
    const entry = resources.refer(ref, ctx)
    if (entry === undefined) throw invalidParams(`Unknown resource template: ${quoted(ref.uri)}`)
    return { names: entry.variables, completers: entry.completers }
  }

  return ({ ref, argument, context }, ctx) => {
    const { names, completers } = blanksOf(ref, ctx)
    if (!names.includes(argument.name)) throw invalidParams(`Unknown argument: ${quoted(argument.name)}`)
    const asked = { typed: argument.value, known: context?.arguments ?? {} }
    return runCompleter(Object.hasOwn(completers, argument.name) ? completers[argument.name] : undefined, asked, ctx)
  }
}
