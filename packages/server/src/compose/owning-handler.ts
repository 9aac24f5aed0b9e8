/** Who answers for a name: handlers that can tell what is theirs, and those that cannot. */

import { type Awaitable, ErrorCode, type Handler, RpcError } from '@mcpx/protocol'

export type OwnedKind = 'tool' | 'prompt' | 'resource'

/** A handler that can tell its names from others. Without `owns` it is a catch-all: asked for whatever nobody owns. */
export interface OwningHandler extends Handler {
  /**
   * Whether a name is this handler's, be it visible to the caller or not. A resource is named by its URI, a
   * template by the template. Never throws, and is cheap: it is asked for each item of a list.
   */
  owns?(kind: OwnedKind, name: string): boolean
}

/** The method without which a handler has nothing of the kind. */
const answering = { tool: 'callTool', prompt: 'getPrompt', resource: 'readResource' } as const

/** Whether a part says that a name is its own. */
export function isOwner(part: OwningHandler, kind: OwnedKind, name: string): boolean {
  return part.owns !== undefined && part[answering[kind]] !== undefined && part.owns(kind, name)
}

/** Whether the name is answered by another part than the one of this index. */
export function isTaken(parts: readonly OwningHandler[], index: number, kind: OwnedKind, name: string): boolean {
  // Owners go first, in their order; a catch-all gets what none of them has.
  const before = parts[index]?.owns === undefined ? parts.length : index
  for (let other = 0; other < before; other++) {
    const part = parts[other]
    if (other !== index && part !== undefined && isOwner(part, kind, name)) return true
  }
  return false
}

/**
 * Runs on the first part that owns the name, else on the catch-alls: the first of them that does not say that the
 * name, or something else about the parameters, is wrong. `unknown` makes the error for a name that is nobody's.
 */
export function route<Result>(
  parts: readonly OwningHandler[],
  kind: OwnedKind,
  name: string,
  run: (part: Handler) => Awaitable<Result>,
  unknown: (name: string) => RpcError,
): Awaitable<Result> {
  for (const part of parts) if (isOwner(part, kind, name)) return run(part)
  const [first, ...others] = parts.filter((part) => part.owns === undefined && part[answering[kind]] !== undefined)
  if (first === undefined) throw unknown(name)
  return others.length === 0 ? run(first) : firstThatKnows([first, ...others], run)
}

async function firstThatKnows<Result>(parts: Handler[], run: (part: Handler) => Awaitable<Result>): Promise<Result> {
  let failure: unknown
  for (const part of parts) {
    try {
      return await run(part)
    } catch (error) {
      if (!isRefusal(error)) throw error
      failure ??= error
    }
  }
  throw failure
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof RpcError)) return false
  return error.code === ErrorCode.InvalidParams || error.code === ErrorCode.ResourceNotFound
}
