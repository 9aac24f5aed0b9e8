/** Transcripts and locks in files. */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { compareLock, connect, createLock, LockError, type ServerLock } from '@mcpx/client'
import type { Connector, Responder } from '@mcpx/protocol'
import { type RecordOptions, recordTranscript, replayTranscript, type Transcript } from './server/transcript.ts'

export type { RecordOptions, Transcript } from './server/transcript.ts'

/**
 * Returns a connector that records its connections. The file is written when a connection has ended, so close the client.
 * Secrets are replaced by `[redacted]`. The file has one line per member, so that changes are readable in a review.
 */
export function record(connector: Connector, file: string, options?: RecordOptions): Connector {
  return recordTranscript(connector, (transcript) => save(file, transcript), options)
}

/**
 * Returns a connector whose responses come from a file that `record` has written. It needs no server and no network.
 *
 * @throws Error if the file cannot be read, and `TypeError` if it is not a transcript
 */
export function replay(file: string, options?: RecordOptions): Connector {
  return replayTranscript(load('replay', file) as Transcript, options)
}

/**
 * Replays the file if it exists, and records it otherwise. With the environment variable `MCPX_RECORD=1`, it always
 * records. With `CI` set, a missing file is an error.
 *
 * ```ts
 * await using client = await connect(recordOnce(http(url), 'test/search.transcript.json'))
 * ```
 */
export function recordOnce(connector: Connector, file: string, options?: RecordOptions): Connector {
  const isWanted = process.env.MCPX_RECORD === '1'
  if (!isWanted && (existsSync(file) || process.env.CI)) return replay(file, options)
  return record(connector, file, options)
}

/**
 * Checks that the tools, prompts and resources of a server match a lock file. `mcpx lock` writes such files as well.
 * Writes the file if it is missing, or with the environment variable `MCPX_RECORD=1`. With `CI` set, a missing file is
 * an error.
 *
 * ```ts
 * test('keeps its contract', () => contract(server, 'mcpx.lock.json'))
 * ```
 *
 * @throws LockError if the server differs
 */
export async function contract(server: Responder | Connector, file: string): Promise<void> {
  const client = await connect(server)
  try {
    const current = await createLock(client)
    const isWanted = process.env.MCPX_RECORD === '1'
    if (isWanted || !(existsSync(file) || process.env.CI)) return save(file, current)
    const differences = compareLock(load('contract', file) as ServerLock, current)
    if (differences.length > 0) throw new LockError(differences)
  } finally {
    await client.close()
  }
}

function load(place: string, file: string): unknown {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new Error(`${place}: cannot read ${file}; record it first, for example with MCPX_RECORD=1`, { cause })
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new TypeError(`${place}: ${file} is not JSON; record it again`, { cause })
  }
}

/** Writes the file atomically, so that a process that ends does not leave an incomplete file. */
function save(file: string, content: object): void {
  mkdirSync(dirname(file), { recursive: true })
  const partial = `${file}.${process.pid}.tmp`
  writeFileSync(partial, `${JSON.stringify(content, undefined, 2)}\n`)
  renameSync(partial, file)
}
