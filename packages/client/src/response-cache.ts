/** Caches responses for as long as the server declares them fresh. */

import { type Change, ErrorCode, type JsonObject } from '@mcpx/protocol'
import { BoundedMap } from './bounded-map.ts'

export type ResponseCache = ReturnType<typeof createResponseCache>

interface Entry {
  readonly method: string
  readonly uri: string | undefined
  readonly result: JsonObject
  readonly staleAt: number
}

/** The longest time to live, in ms: one year. */
const LONGEST_TTL = 1_000 * 60 * 60 * 24 * 365

/** The most characters of all cached responses as JSON. Above this number, the oldest responses are removed. */
const MAX_SIZE = 32 * 1024 * 1024

/**
 * @param limit how many responses are kept. Above this number, the oldest response is removed.
 * @param maxSize how many characters of JSON all responses may have together
 */
export function createResponseCache(limit: number, maxSize: number = MAX_SIZE) {
  const entries = new BoundedMap<Entry>(limit, maxSize)
  let drops = 0

  function dropWhere(isStale: (entry: Entry) => boolean): void {
    drops += 1
    entries.deleteWhere(isStale)
  }

  return {
    get(method: string, params: JsonObject): JsonObject | undefined {
      if (entries.size === 0) return undefined
      const key = keyOf(method, params)
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      if (performance.now() < entry.staleAt) return entry.result
      entries.delete(key)
      return undefined
    },
    /**
     * Call it before a request is sent. Returns a function that caches the response. The function does not cache the
     * response if entries were dropped in the meantime, because the response may be older than the change.
     */
    fetching(method: string, params: JsonObject) {
      const dropsBefore = drops
      return (result: JsonObject): void => {
        const ttl = Number(result.ttlMs)
        if (limit === 0 || drops !== dropsBefore || !(ttl > 0)) return
        const uri = typeof params.uri === 'string' ? params.uri : undefined
        const staleAt = performance.now() + Math.min(ttl, LONGEST_TTL)
        entries.set(keyOf(method, params), { method, uri, result, staleAt }, JSON.stringify(result).length)
      }
    },
    /** Drops the responses that a change makes stale. */
    invalidate(change: Change): void {
      if (change.kind === 'resource') {
        const { uri } = change
        dropWhere((entry) => entry.uri !== undefined && overlaps(entry.uri, uri))
      } else {
        const methods = listsOf[change.kind]
        dropWhere((entry) => methods.includes(entry.method))
      }
    },
    /** Drops the lists that may be stale because a call failed with this error. */
    dropAfterError(method: string, code: number): void {
      const lists = staleTargetCodes.has(code) ? namedBy[method] : undefined
      if (lists !== undefined) dropWhere((entry) => lists.includes(entry.method))
    },
    /** Drops all responses to one method. */
    drop: (method: string) => dropWhere((entry) => entry.method === method),
  }
}

const listsOf = {
  tools: ['tools/list'],
  prompts: ['prompts/list'],
  resources: ['resources/list', 'resources/templates/list'],
}

/** For each method, the list methods whose results contain the names that it uses. */
const namedBy: Readonly<Record<string, readonly string[]>> = {
  'tools/call': listsOf.tools,
  'prompts/get': listsOf.prompts,
  'resources/read': listsOf.resources,
}

/** The error codes which may mean that the tool, prompt or resource does not exist any more, or has changed. */
const staleTargetCodes = new Set<number>([
  ErrorCode.InvalidParams,
  ErrorCode.MethodNotFound,
  ErrorCode.ResourceNotFound,
  ErrorCode.HeaderMismatch,
])

/** Returns whether one of two resources may be a part of the other. */
function overlaps(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one)
}

function keyOf(method: string, { _meta, ...params }: JsonObject): string {
  return JSON.stringify([method, Object.entries(params).sort()])
}
