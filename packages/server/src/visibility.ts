/** For whom something is there, and who may use it: `visible` decides on the first, `scopes` on the second. */

import { type AuthInfo, insufficientScope } from '@mcpx/protocol'

export interface VisibilityOptions {
  /**
   * Decides for each caller whether it is there; where it does not say true, it does not exist. `auth` is undefined
   * where nobody checked who calls. Default: who holds the `scopes` has it in the lists, and it exists for everybody.
   */
  visible?: ((auth: AuthInfo | undefined) => boolean | undefined) | undefined
  /** The caller needs all of these scopes to use it, and is told so by an error that names them. Default: none. */
  scopes?: readonly string[] | undefined
}

/** Stands before what is not for everybody. */
export interface Gate {
  /** Whether it is in the lists of this caller. */
  lists(auth: AuthInfo | undefined): boolean
  /** Whether it exists for this caller. Throws `insufficientScope` for one who may know of it, and lacks scopes. */
  admits(auth: AuthInfo | undefined): boolean
}

/** Nothing where everybody may see and use it. */
export function gateOf({ visible, scopes = [] }: VisibilityOptions): Gate | undefined {
  // A promise, which the types refuse, is no yes either.
  const sees = visible && ((auth: AuthInfo | undefined) => visible(auth) === true)
  if (scopes.length === 0) return sees && { lists: sees, admits: sees }
  const needed = [...scopes]
  const holds = (auth: AuthInfo | undefined) =>
    auth !== undefined && needed.every((scope) => auth.scopes.includes(scope))
  return {
    lists: sees ?? holds,
    admits(auth) {
      if (sees?.(auth) === false) return false
      if (!holds(auth)) throw insufficientScope(needed)
      return true
    },
  }
}
