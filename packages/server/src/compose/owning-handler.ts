/** Who answers for a name: handlers that can tell what is theirs, and those that cannot. */

import { type Awaitable, ErrorCode, type Handler, RpcError } from '@mcpx/protocol'
import { type Kind, type Subject, unknownName } from '../members.ts'

export type OwnedKind = Kind

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
export function isOwner(part: OwningHandler, { kind, name }: Subject): boolean {
  return part.owns !== undefined && part[answering[kind]] !== undefined && part.owns(kind, name)
}

/** Whether the name is answered by another part than the one of this index. */
export function isTaken(parts: readonly OwningHandler[], index: number, subject: Subject): boolean {
  // Owners go first, in their order; a catch-all gets what none of them has.
  const isCatchAll = parts[index]?.owns === undefined
  return parts.some((part, other) => (isCatchAll ? other !== index : other < index) && isOwner(part, subject))
}

/**
 * Runs on the first part that owns the name, else on the catch-alls: the first of them that does not say that the
 * name, or something else about the parameters, is wrong.
 */
export function route<Result>(
  parts: readonly OwningHandler[],
  subject: Subject,
  run: (part: Handler) => Awaitable<Result>,
): Awaitable<Result> {
  const owner = parts.find((part) => isOwner(part, subject))
  if (owner !== undefined) return run(owner)
  const others = parts.filter((part) => part.owns === undefined && part[answering[subject.kind]] !== undefined)
  if (others.length === 0) throw unknownName(subject)
  return others.length === 1 ? run(others[0] as Handler) : firstThatKnows(others, run)
}

async function firstThatKnows<Result>(
  parts: readonly Handler[],
  run: (part: Handler) => Awaitable<Result>,
): Promise<Result> {
  let failure: unknown
  for (const part of parts) {
    try {
      return await run(part)
    } catch (error) {
      if (!isNameError(error)) throw error
      failure ??= error
    }
  }
  throw failure
}

/** Whether an error may say that a name is nobody's. */
export function isNameError(error: unknown): error is RpcError {
  return (
    error instanceof RpcError && (error.code === ErrorCode.InvalidParams || error.code === ErrorCode.ResourceNotFound)
  )
}
