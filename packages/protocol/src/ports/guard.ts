/** What stands before a server that is reached by HTTP and says who is asking. */

import type { AuthInfo } from './auth-info.ts'
import type { Awaitable } from './awaitable.ts'

/** What a caller lacks. */
export interface ScopeRefusal {
  /** All scopes that the operation needs, those that the caller holds among them. */
  readonly requiredScopes: readonly string[]
  /** Nothing where nobody is known. */
  readonly auth: AuthInfo | undefined
}

/** A plain function is a guard; one that knows more of its credentials says it by the other two. */
export interface Guard {
  /** Who is asking, a response in the server's place, such as 401, or nothing where nobody needs to be known. */
  (request: Request): Awaitable<AuthInfo | Response | undefined>
  /** Answers what anybody may read, such as where to get credentials. Nothing for any other request. */
  metadata?(request: Request): Response | undefined
  /** Challenges a caller who may do something, but not this. Its status and headers count; the body is the carrier's. */
  refuse?(request: Request, refusal: ScopeRefusal): Response
}
