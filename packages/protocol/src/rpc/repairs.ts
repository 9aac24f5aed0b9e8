/** What stands in for what would not work: answers that cannot be written, reporters that throw. */

import { encode } from '../jsonrpc/codec.ts'
import type { RpcError } from '../jsonrpc/errors.ts'
import { errorMessage, type Message } from '../jsonrpc/message.ts'

/** Answers with an error in the place of each that cannot be written. */
export function writable(answer: Message | Message[]): Message | Message[] {
  return Array.isArray(answer) ? answer.map(writableOne) : writableOne(answer)
}

function writableOne(answer: Message): Message {
  try {
    encode(answer)
    return answer
  } catch (problem) {
    return errorMessage('id' in answer ? answer.id : undefined, problem as RpcError)
  }
}

/** A reporter that throws harms nobody but itself. */
export function guarded(report: ((problem: Error) => void) | undefined): (problem: Error) => void {
  return (problem) => {
    try {
      report?.(problem)
    } catch {
      // There is nobody left to tell.
    }
  }
}
