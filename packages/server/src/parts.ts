/** What a server offers, part by part: a handler that was given, what was registered, and what was mounted. */

import type { Handler } from '@mcpx/protocol'
import type { Audience } from './audience.ts'
import { combine } from './compose.ts'
import type { Offered } from './offered.ts'
import { createRegistry, type Registry } from './registry.ts'
import { searchSchemas } from './schema-search.ts'
import type { RegistryOptions } from './tool-registry.ts'

export interface Parts extends Offered {
  readonly registry: Registry
  add(part: Handler): void
}

/** With the first thing that is registered, the registry becomes a part, and comes before all others. */
export function createParts(given: Handler, options: RegistryOptions, audience: () => Audience): Parts {
  // By itself: of a handler that is an object of a class, a copy would lose what its class has.
  const parts: Handler[] = isHandler(given) ? [given] : []
  let handler: Handler | undefined

  function add(part: Handler, at = parts.length): void {
    parts.splice(at, 0, part)
    handler = undefined
    audience().grow(part)
  }

  const onOffer = () => {
    if (!parts.includes(registry)) add(registry, 0)
  }
  const registry = createRegistry({ ...options, onOffer })
  return {
    registry,
    parts,
    searchSchemas,
    get handler() {
      handler ??= combine(parts, audience().onChange)
      return handler
    },
    add: (part) => add(part),
  }
}

function isHandler(options: object): boolean {
  return ['callTool', 'readResource', 'getPrompt', 'complete', 'changes'].some((name) => name in options)
}
