/** What went wrong in the code of this server, for its log: clients are told a number only. */
import type { Context } from '@mcpx/protocol'
import { QuestionError, ResultError } from '@mcpx/server'

/** For the option `onError`. */
export function reportFault(error: unknown, ctx: Context | undefined, id: string): void {
  const isOurs = error instanceof ResultError || error instanceof QuestionError
  const caller = ctx?.auth?.subject ?? 'anonymous'
  console.error(`error ${id}, met by ${caller}${isOurs ? ', a rule that a handler broke' : ''}:`, error)
}
