/** What the modern wire says of a method, for products that know no other era: nothing of another one comes with it. */

import type { Schema } from '../schema/define.ts'
import type { Revision } from '../versions.ts'
import { lookUp, type MethodEntry } from './era.ts'
import { modernInputRequests, modernRequests } from './modern.ts'
import { clientParams, clientResults, inputResponses, toolParams } from './modern-schemas.ts'

/** What a revision of this era says of a request; nothing where there is none of that name. */
export function modernRequest(revision: Revision, method: string): MethodEntry | undefined {
  return lookUp(modernRequests, method, revision)
}

/** The parameters of a request by a modern client. Absent parameters are read as `{}`. */
export function modernRequestParams(revision: Revision, method: string): Schema<unknown> | undefined {
  return modernRequest(revision, method) && clientParams[method]
}

/** The same, of what a server is asked that offers tools alone; nothing for all else. */
export function modernToolParams(revision: Revision, method: string): Schema<unknown> | undefined {
  return modernRequest(revision, method) && toolParams[method]
}

/** The complete result of a request by a modern client. */
export function modernRequestResult(revision: Revision, method: string): Schema<unknown> | undefined {
  return modernRequest(revision, method) && clientResults[method]
}

/** The answer to a request of the server's that travels in an unfinished result. */
export function modernInputResponse(revision: Revision, method: string): Schema<unknown> | undefined {
  return lookUp(modernInputRequests, method, revision) && inputResponses[method]
}
