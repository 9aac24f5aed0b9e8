/** Capabilities by dotted paths, as the era tables name them: `resources.subscribe`, `elicitation.url`. */

import { isObject } from '../jsonrpc/check.ts'
import type { JsonObject } from '../schema/primitives.ts'

/**
 * Whether capabilities declare what a path names. An object declares itself, `true` a switch; `elicitation: {}` declares
 * forms.
 */
export function declares(capabilities: object | undefined, path: string): boolean {
  let at: unknown = capabilities
  for (const name of path.split('.')) at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
  if (isObject(at) || at === true) return true
  return (
    path === 'elicitation.form' && declares(capabilities, 'elicitation') && !declares(capabilities, 'elicitation.url')
  )
}

/** The capabilities object that declares a path and nothing else: what error data asks for. */
export function declaring(path: string): JsonObject {
  return path.split('.').reduceRight<JsonObject>((inner, name) => ({ [name]: inner }), {})
}
