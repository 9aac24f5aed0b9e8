/** One handler out of several: lists are joined, and each name is answered by the part that has it. */

import type { Awaitable, Context, Handler } from '@mcpx/protocol'
import { type Answering, membersWhile, NAMING, type Naming, type NamingParams, subjectOf } from '../members.ts'
import { joinedList } from './joined-list.ts'
import { LISTS } from './list.ts'
import { isOwner, type OwningHandler, route } from './owning-handler.ts'

/**
 * Asks its parts in order; where two have something of one name, it is the first part's, and lists drop the other.
 * It has a method while any part has it. One part is given back as it is.
 *
 * @param changes listens to all parts
 */
export function combine(parts: readonly Handler[], changes?: Handler['changes']): OwningHandler {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return only
  const all: readonly OwningHandler[] = [...parts]
  const handler: OwningHandler = membersWhile({ ...membersOf(all), ...(changes && { changes }) }, (name) =>
    all.some((part) => part[name] !== undefined),
  )
  // With a catch-all among the parts, nobody can tell what is not theirs.
  if (all.every((part) => part.owns !== undefined)) {
    handler.owns = (kind, name) => all.some((part) => isOwner(part, { kind, name }))
  }
  return handler
}

function membersOf(all: readonly OwningHandler[]): Record<string, (...args: never) => unknown> {
  const setLogLevel: Answering = async (params, ctx) => {
    await Promise.all(all.map(async (part) => part.setLogLevel?.(params, ctx)))
  }
  const lists = LISTS.map((list) => [list.method, joinedList(all, list)])
  const naming = Object.keys(NAMING).map((name) => [name, routed(all, name as Naming)])
  return { setLogLevel, ...Object.fromEntries([...lists, ...naming]) }
}

/** A part that has nothing to propose, or cannot be subscribed to and so tells of no updates, is not asked. */
function routed(all: readonly OwningHandler[], member: Naming) {
  const otherwise = member === 'complete' ? { completion: { values: [] } } : undefined
  return (params: NamingParams, ctx: Context): Awaitable<unknown> =>
    route<unknown>(all, subjectOf(member, params), (part) => part[member]?.(params as never, ctx) ?? otherwise)
}
