/** Remembers which handler is mounted in which, so that none comes to stand within itself. */

import type { Handler } from '@mcpx/protocol'
import { RegistrationError } from '../features/registration-error.ts'

interface Mount {
  readonly prefix: string
  readonly handler: Handler
}

const mounts = new WeakMap<Handler, Mount[]>()

/** Throws a `RegistrationError` that names the way by which the outer handler is reached again. */
export function noteMount(outer: Handler, prefix: string, handler: Handler): void {
  const way = wayTo(outer, { prefix, handler })
  if (way !== undefined) {
    const path = JSON.stringify(way.join('.'))
    throw new RegistrationError(
      `mount: ${path} is the server itself, which would go round in circles; mount another one`,
    )
  }
  mounts.set(outer, [...(mounts.get(outer) ?? []), { prefix, handler }])
}

/** The prefixes on the way from a mount to a handler; nothing where no way leads there. What was looked into is not again. */
function wayTo(goal: Handler, { prefix, handler }: Mount, seen: Set<Handler> = new Set()): string[] | undefined {
  if (handler === goal) return [prefix]
  if (seen.has(handler)) return undefined
  seen.add(handler)
  for (const inner of mounts.get(handler) ?? []) {
    const way = wayTo(goal, inner, seen)
    if (way !== undefined) return [prefix, ...way]
  }
  return undefined
}
