/** How a handler says that it needs something from the client before it can go on. */

import type { InputRequests, InputRequiredResult } from '@mcpx/protocol'

/** Thrown where an answer is missing; ends this run of the handler. What the handler makes of it does not count. */
export class InputRequired extends Error {
  override readonly name = 'InputRequired'

  constructor() {
    super('Input is required from the client: this run of the handler ends here and starts again with the answer')
  }
}

/** The result that asks for input, written by hand; `requestState` is sealed before it leaves. */
export function inputRequired(inputRequests: InputRequests, requestState?: string): InputRequiredResult {
  return requestState === undefined
    ? { resultType: 'input_required', inputRequests }
    : { resultType: 'input_required', inputRequests, requestState }
}

export function isInputRequired(result: unknown): result is InputRequiredResult {
  return (result as { resultType?: unknown } | null | undefined)?.resultType === 'input_required'
}
