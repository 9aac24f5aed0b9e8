/** Logs unexpected errors of handlers. Clients only see the id of an error. */
import type { Context } from '@mcpx/protocol'
import { QuestionError, ResultError } from '@mcpx/server'

/** The value of the option `onError`. */
export function reportFault(error: unknown, ctx: Context | undefined, id: string): void {
  const isMisuse = error instanceof ResultError || error instanceof QuestionError
  const caller = ctx?.auth?.subject ?? 'anonymous'
  console.error(`error ${id}, caller ${caller}${isMisuse ? ', invalid use of the API by a handler' : ''}:`, error)
}
