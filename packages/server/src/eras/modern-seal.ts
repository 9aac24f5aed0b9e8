/** Results as this wire wants them: what kind they are, how long they keep, and which server gave them. */

import { isTextKept, type JsonObject, keepText, kindOf, quoted, withServerInfo } from '@mcpx/protocol'
import { ResultError } from '../features/result-error.ts'
import type { ModernCall } from './modern-call.ts'

/** Results that do not change, sealed; each is sealed, and written, once for a server. */
const sealedOnce = new WeakMap<object, { readonly core: object; readonly sealed: object }>()

/** Those of the protocol itself. Others belong to extensions, and no extension is served here. */
const TYPES: readonly unknown[] = ['complete', 'input_required']

/** What is read of a call. */
type Sealed = Pick<ModernCall, 'core' | 'entry'> & { readonly message: Pick<ModernCall['message'], 'method'> }

export function sealResult(call: Sealed, result: object): object {
  if (!isTextKept(result)) return seal(call, result)
  const known = sealedOnce.get(result)
  if (known?.core === call.core) return known.sealed
  const sealed = keepText(seal(call, result))
  sealedOnce.set(result, { core: call.core, sealed })
  return sealed
}

function seal({ core, entry, message }: Sealed, result: object): JsonObject {
  const sealed = withServerInfo(result, core.info)
  if (sealed.resultType === undefined) sealed.resultType = 'complete'
  else if (!TYPES.includes(sealed.resultType)) throw unknownType(message.method, sealed.resultType)
  if (sealed.resultType === 'complete' && entry.cacheable === true) {
    sealed.ttlMs = toTtl(sealed.ttlMs)
    if (sealed.cacheScope !== 'public') sealed.cacheScope = 'private'
  }
  return sealed
}

/** A whole number of milliseconds. What is none is not to be kept at all; what is endless, as long as can be said. */
function toTtl(ms: unknown): number {
  if (typeof ms !== 'number' || !(ms > 0)) return 0
  return Math.min(Math.floor(ms), Number.MAX_SAFE_INTEGER)
}

function unknownType(method: string, type: unknown): ResultError {
  const said = typeof type === 'string' ? quoted(type) : kindOf(type)
  return new ResultError(`The result of ${method} has the resultType ${said}; leave it out, or return inputRequired()`)
}
