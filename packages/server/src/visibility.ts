/** For whom something is there: to everybody else it does not exist. */

import type { AuthInfo } from '@mcpx/protocol'

export interface VisibilityOptions {
  /** Decides for each caller; `auth` is undefined where nobody checked who calls. Default: everybody. */
  visible?: ((auth: AuthInfo | undefined) => boolean) | undefined
  /** The caller needs all of these scopes. Default: none. */
  scopes?: readonly string[] | undefined
}

export type Audience = (auth: AuthInfo | undefined) => boolean

/** Who may see it; nothing when everybody may. */
export function audienceOf({ visible, scopes = [] }: VisibilityOptions): Audience | undefined {
  if (scopes.length === 0) return visible
  const needed = [...scopes]
  const isScoped: Audience = (auth) => auth !== undefined && needed.every((scope) => auth.scopes.includes(scope))
  return visible === undefined ? isScoped : (auth) => isScoped(auth) && visible(auth)
}
