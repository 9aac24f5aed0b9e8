/** What a client declares that servers may ask of it, by the callbacks that were given. */

import { type ClientCapabilities, quoted } from '@mcpx/protocol'
import type { ClientOptions, ElicitAsk } from './options.ts'

/** What the callbacks can do. */
export function declared({ onElicit, onSample, roots, ...options }: ClientOptions): ClientCapabilities {
  const capabilities: ClientCapabilities = { ...options.capabilities }
  if (onElicit !== undefined) {
    capabilities.elicitation = Object.fromEntries(modesOf(options).map((mode) => [mode, {}]))
  }
  if (onSample !== undefined) {
    const { tools, context } = options.sampling ?? {}
    capabilities.sampling = { ...(tools && { tools: {} }), ...(context && { context: {} }) }
  }
  if (roots !== undefined) capabilities.roots = {}
  return capabilities
}

export function modesOf({ elicitationModes = ['form', 'url'] }: ClientOptions): readonly ElicitAsk['mode'][] {
  return elicitationModes
}

/** Throws `TypeError` for the first that is no `file:` URI. */
export function checkRoots(roots: readonly { uri: string }[]): void {
  roots.forEach(({ uri }, index) => {
    if (!/^file:\/\//i.test(uri) || !URL.canParse(uri)) {
      throw new TypeError(`roots[${index}].uri: expected a file: URI, got ${quoted(uri)}`)
    }
  })
}
