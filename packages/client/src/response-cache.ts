/** Keeps answers for as long as their server says that they are fresh. */

import { type Change, ErrorCode, type JsonObject } from '@mcpx/protocol'
import { keepNewest } from './newest.ts'

export interface ResponseCache {
  get(method: string, params: JsonObject): JsonObject | undefined
  /**
   * Starts to fetch an answer. What is returned keeps the answer, unless something was dropped in the meantime: the
   * answer may be older than the change.
   */
  fetching(method: string, params: JsonObject): (result: JsonObject) => void
  /** Forgets what a change makes wrong. */
  invalidate(change: Change): void
  /** Forgets the lists that may have led to a call which failed with this error. */
  doubt(method: string, code: number): void
  /** Forgets all answers to one method. */
  drop(method: string): void
}

interface Entry {
  readonly method: string
  readonly uri: string | undefined
  readonly result: JsonObject
  readonly staleAt: number
}

/** Past this many ms a time to live is as good as for ever. */
const LONGEST = 1_000 * 60 * 60 * 24 * 365

/** @param limit how many answers are kept; the oldest goes first. */
export function createResponseCache(limit: number): ResponseCache {
  const entries = new Map<string, Entry>()
  let drops = 0

  function drop(wrong: (entry: Entry) => boolean): void {
    drops += 1
    for (const [key, entry] of entries) if (wrong(entry)) entries.delete(key)
  }

  function put(key: string, entry: Omit<Entry, 'staleAt'>): void {
    const ttl = Number(entry.result.ttlMs)
    if (!(ttl > 0)) return
    keepNewest(entries, limit, key, { ...entry, staleAt: performance.now() + Math.min(ttl, LONGEST) })
  }

  return {
    get(method, params) {
      if (entries.size === 0) return undefined
      const key = keyOf(method, params)
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      if (performance.now() < entry.staleAt) return entry.result
      entries.delete(key)
      return undefined
    },
    fetching(method, params) {
      const dropsBefore = drops
      return (result) => {
        if (limit === 0 || drops !== dropsBefore) return
        const uri = typeof params.uri === 'string' ? params.uri : undefined
        put(keyOf(method, params), { method, uri, result })
      }
    },
    invalidate(change) {
      if (change.kind === 'resource') {
        const { uri } = change
        drop((entry) => entry.uri !== undefined && overlaps(entry.uri, uri))
      } else {
        const methods = listsOf[change.kind]
        drop((entry) => methods.includes(entry.method))
      }
    },
    doubt(method, code) {
      const lists = suspicious.has(code) ? namedBy[method] : undefined
      if (lists !== undefined) drop((entry) => lists.includes(entry.method))
    },
    drop: (method) => drop((entry) => entry.method === method),
  }
}

const listsOf = {
  tools: ['tools/list'],
  prompts: ['prompts/list'],
  resources: ['resources/list', 'resources/templates/list'],
}

/** The lists in which callers find what these methods name. */
const namedBy: Readonly<Record<string, readonly string[]>> = {
  'tools/call': listsOf.tools,
  'prompts/get': listsOf.prompts,
  'resources/read': listsOf.resources,
}

/** What is named is not there, or is not as it was. */
const suspicious = new Set<number>([
  ErrorCode.InvalidParams,
  ErrorCode.MethodNotFound,
  ErrorCode.ResourceNotFound,
  ErrorCode.HeaderMismatch,
])

/** What was updated may lie below a resource that was read as a whole, or the other way round. */
function overlaps(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one)
}

function keyOf(method: string, { _meta, ...params }: JsonObject): string {
  return JSON.stringify([method, Object.entries(params).sort()])
}
