/** What stands in for what would not work: answers that cannot be written, functions of others that fail. */

import { encode } from '../jsonrpc/codec.ts'
import { ConnectionError } from '../jsonrpc/connection-error.ts'
import type { RpcError } from '../jsonrpc/errors.ts'
import { errorMessage, type Message } from '../jsonrpc/message.ts'
import { isPromise } from '../ports/awaitable.ts'

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

/**
 * A function that calls the listener and never throws. What the listener throws, or rejects with, goes to `fail`, which
 * must not throw. Default: nowhere.
 */
export function guarded<Args extends readonly unknown[]>(
  listener: ((...args: Args) => unknown) | undefined,
  fail: (problem: Error) => void = () => {},
): (...args: Args) => void {
  return (...args) => {
    try {
      const heard = listener?.(...args)
      if (isPromise(heard)) heard.then(undefined, fail)
    } catch (problem) {
      fail(problem as Error)
    }
  }
}

/** Why a connection is over whose channel broke. */
export function brokenError(error: unknown): ConnectionError {
  if (error instanceof ConnectionError) return error
  return new ConnectionError('closed', 'The connection broke', { cause: error })
}
