/** Results as this wire wants them: what kind they are, how long they keep, and which server gave them. */

import { isTextKept, type JsonObject, keepText, methodEntry, withServerInfo } from '@mcpx/protocol'
import type { ModernCall } from './modern-call.ts'

/** Results that do not change, sealed; each is sealed, and written, once for a server. */
const sealedOnce = new WeakMap<object, { readonly core: object; readonly sealed: object }>()

export function sealResult(call: ModernCall, result: object): object {
  if (!isTextKept(result)) return seal(call, result)
  const known = sealedOnce.get(result)
  if (known?.core === call.core) return known.sealed
  const sealed = keepText(seal(call, result))
  sealedOnce.set(result, { core: call.core, sealed })
  return sealed
}

function seal({ core, revision, message }: ModernCall, result: object): JsonObject {
  const sealed = withServerInfo(result, core.info)
  sealed.resultType ??= 'complete'
  if (sealed.resultType === 'complete' && methodEntry(revision, message.method, 'request')?.cacheable === true) {
    sealed.ttlMs ??= 0
    sealed.cacheScope ??= 'private'
  }
  return sealed
}
