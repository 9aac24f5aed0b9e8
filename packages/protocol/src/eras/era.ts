/** What an era is made of: a table of the methods that exist on its wire, and what they need. Names only, no shapes. */

import type { Era, Revision } from '../versions.ts'

/** The revisions in which something exists: from `since` to `until`, both included. Absent means without end. */
export interface Span {
  since?: Revision
  until?: Revision
}

/** One method. */
export interface MethodEntry extends Span {
  /** Who may send it. */
  from: 'client' | 'server' | 'both'
  /** What the answering side must have declared, or for a notification the sending side: `resources.subscribe`. */
  capability?: string
  /** Its complete result carries cache hints. */
  cacheable?: true
  /** It may be answered by `input_required`. */
  mayAsk?: true
}

export type MethodTable = Readonly<Record<string, Readonly<MethodEntry>>>

/** All that is said about one wire. What is not in a table does not exist there. */
export interface EraTable {
  readonly era: Era
  /** Oldest first. */
  readonly revisions: readonly Revision[]
  readonly requests: MethodTable
  readonly notifications: MethodTable
  /** Requests of the server that travel in an unfinished result, without an id of their own. */
  readonly inputRequests: MethodTable
  /** Dotted paths into the capabilities of each side. */
  readonly capabilities: {
    readonly client: Readonly<Record<string, Span>>
    readonly server: Readonly<Record<string, Span>>
  }
}

export type MethodKind = 'request' | 'notification' | 'inputRequest'

/** The entry of a name in one revision. Any name is safe to look up, `__proto__` and `constructor` too. */
export function lookUp<T extends Span>(
  entries: Readonly<Record<string, T>>,
  name: string,
  revision: Revision,
): T | undefined {
  const entry = Object.hasOwn(entries, name) ? entries[name] : undefined
  return entry !== undefined && covers(entry, revision) ? entry : undefined
}

function covers({ since, until }: Span, revision: Revision): boolean {
  return (since === undefined || revision >= since) && (until === undefined || revision <= until)
}
