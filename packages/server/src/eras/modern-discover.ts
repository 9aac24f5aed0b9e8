/** `server/discover`: what the server is and can do. */

import { type JsonObject, keepText, type ResponseMessage, resultMessage, revisionsOf } from '@mcpx/protocol'
import type { ModernCall } from './modern-call.ts'
import { sealResult } from './modern-seal.ts'

/** The answer of each server, as long as it can do the same. */
const answers = new WeakMap<object, object>()

export function discover(call: ModernCall): ResponseMessage {
  const { capabilities, instructions } = call.core
  let answer = answers.get(capabilities)
  if (answer === undefined) {
    const result: JsonObject = { supportedVersions: revisionsOf('modern'), capabilities }
    if (instructions !== undefined) result.instructions = instructions
    answer = keepText(result)
    answers.set(capabilities, answer)
  }
  return resultMessage(call.message.id, sealResult(call, answer))
}
