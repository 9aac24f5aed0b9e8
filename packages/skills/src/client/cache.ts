/** Keeps verified files of skills by their digests. */

import type { Awaitable } from '@mcpx/protocol'
import { digestOf } from '../bytes.ts'

/**
 * Stores files by their digests, such as `sha256:2c26…`. Their bytes are hashed again whenever they are used, so a store that others
 * can write to, such as a folder, cannot change a skill.
 */
export interface SkillCache {
  /** Returns the bytes that were stored for a digest, or undefined. */
  get(digest: string): Awaitable<Uint8Array | undefined>
  /** Stores bytes that have this digest. */
  set(digest: string, bytes: Uint8Array): Awaitable<unknown>
}

/** How many bytes are kept in memory: 32 MiB, twice the largest skill. */
const MAX_BYTES = 32 * 1024 * 1024

/** Creates a cache in memory. When it is full, the files that were not used for the longest time are removed. */
export function createMemoryCache(): SkillCache {
  const files = new Map<string, Uint8Array>()
  let total = 0
  const remove = (digest: string) => {
    total -= files.get(digest)?.length ?? 0
    files.delete(digest)
  }
  const cache = {
    get(digest: string) {
      const bytes = files.get(digest)
      // Setting it again moves it behind the others.
      if (bytes !== undefined) cache.set(digest, bytes)
      return bytes
    },
    set(digest: string, bytes: Uint8Array) {
      remove(digest)
      files.set(digest, bytes)
      total += bytes.length
      for (const oldest of files.keys()) if (total > MAX_BYTES) remove(oldest)
    },
  }
  return cache
}

/** Returns the bytes of a digest from a cache. Problems of the cache are reported, and the file counts as missing. */
export async function readCache(
  cache: SkillCache | undefined,
  digest: string,
  onWarning: (warning: Error) => void,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const bytes = (await cache?.get(digest)) as Uint8Array<ArrayBuffer> | undefined
    if (bytes === undefined || (await digestOf(bytes)) === digest) return bytes
    onWarning(new Error(`skills: the cache has other bytes for ${digest}; the file is requested again`))
  } catch (cause) {
    onWarning(new Error('skills: the cache cannot be read; the file is requested again', { cause }))
  }
  return undefined
}

export async function writeCache(
  cache: SkillCache | undefined,
  digest: string,
  bytes: Uint8Array,
  onWarning: (warning: Error) => void,
): Promise<void> {
  try {
    await cache?.set(digest, bytes)
  } catch (cause) {
    onWarning(new Error('skills: the cache cannot be written; the file is not kept', { cause }))
  }
}
