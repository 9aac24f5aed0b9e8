/** What goes wrong in user code: whole for the server's author, masked for everybody else. */

import { type CallToolResult, type Context, guarded, internalError, RpcError } from '@mcpx/protocol'
import { InputRequired } from './input-required.ts'
import { ToolError } from './tool-error.ts'

/** Told of each fault. `id` is all that the client got to see of it. */
export type OnError<Ctx = Context> = (error: unknown, ctx: Ctx | undefined, id: string) => void

export interface Faults {
  /** Reports a fault and returns the id to show in its place. */
  report(error: unknown, ctx: Context | undefined): string
}

export function createFaults(onError: OnError | undefined): Faults {
  // A reporter that fails must not take the answer, or the process, with it.
  const tell = guarded<Parameters<OnError>>(onError ?? print)
  return {
    report(error, ctx) {
      const id = crypto.randomUUID().slice(0, 8)
      tell(error, ctx, id)
      return id
    },
  }
}

/** Without a listener the author would have nothing but the id that a client was shown. */
function print(error: unknown, ctx: Context | undefined, id: string): void {
  // A caller who has gone was shown no id, and what fails then fails for that.
  if (ctx?.signal.aborted === true) return
  // biome-ignore lint/suspicious/noConsole: errors go to stderr, and there is nowhere else to tell them
  console.error(`@mcpx/server: error ${id}:`, error)
}

/** The error to answer with: as it is when it was made for the peer, else masked. */
export function toAnswer(error: unknown, ctx: Context | undefined, faults: Faults): RpcError {
  if (error instanceof RpcError) return error
  if (error instanceof ToolError) return internalError(error.message)
  return internalError(`Internal error (${faults.report(error, ctx)})`)
}

/** The result of a tool that failed. Errors of the protocol, and questions, are none. */
export function toolFault(error: unknown, ctx: Context, faults: Faults): CallToolResult {
  if (error instanceof RpcError || error instanceof InputRequired) throw error
  const text = error instanceof ToolError ? error.message : `The tool failed (error ${faults.report(error, ctx)})`
  return { content: [{ type: 'text', text }], isError: true }
}
