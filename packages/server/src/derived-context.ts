/** A context in which some members are others. */

import type { Context } from '@mcpx/protocol'

/**
 * What `changes` has comes from there, all else from `ctx`, whose members know it as `this` whatever is laid over it.
 * A context of its own, which has all members, stays what it is. For handlers that call others with a context of their
 * own making: a copy by `{ ...ctx }` alone has lost what `ctx` does.
 *
 * ```ts
 * const asGuest = (inner: ToolHandler): ToolHandler => ({
 *   ...inner,
 *   callTool: (params, ctx) => inner.callTool(params, deriveContext(ctx, { auth: undefined })),
 * })
 * ```
 */
export function deriveContext(ctx: Context, changes: Partial<Context>): Context {
  const inherits = Object.prototype.isPrototypeOf.call(ctx, changes)
  if (!inherits && isWhole(changes)) return changes
  return new Proxy({} as Context, {
    get: (_, name) => (Object.hasOwn(changes, name) ? Reflect.get(changes, name) : memberOf(ctx, name)),
    has: (_, name) => Object.hasOwn(changes, name) || name in ctx,
    // What a copy takes along; all else is in what the copy is given in the place of.
    ownKeys: () => Reflect.ownKeys(changes),
    getOwnPropertyDescriptor: (_, name) => {
      const own = Reflect.getOwnPropertyDescriptor(changes, name)
      return own && { ...own, configurable: true }
    },
  })
}

function memberOf(ctx: Context, name: PropertyKey): unknown {
  const member: unknown = Reflect.get(ctx, name)
  return typeof member === 'function' ? member.bind(ctx) : member
}

function isWhole(ctx: Partial<Context>): ctx is Context {
  return 'step' in ctx && 'ask' in ctx && 'signal' in ctx
}
