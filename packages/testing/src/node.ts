/** Transcripts and locks in files. */

import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { compareLock, connect, createLock, type LockDifference, LockError, type ServerLock } from '@mcpx/client'
import { type Connector, kindOf, type Responder, refuseUnknownOption } from '@mcpx/protocol'
import { compareSteps } from './server/compare.ts'
import { RecordedSteps, type RecordOptions, type Transcript } from './server/recorded-steps.ts'
import { isUpdateMode, recordTranscript, replaySteps } from './server/transcript.ts'

export type { RecordOptions, Transcript } from './server/recorded-steps.ts'

/** How `recordOnce` uses a file: see its option `mode`. */
export type RecordMode = 'auto' | 'replay' | 'record' | 'compare'

/** Options of `recordOnce`. */
export interface RecordOnceOptions extends RecordOptions {
  /**
   * `auto` replays the file, and records it if it is missing; with the environment variable `CI`, a missing file is an
   * error. `replay` never connects. `record` replaces the file. `compare` connects, and rejects requests whose response
   * differs from the file. Default: the environment variable `MCPX_RECORD`, in which `1` means `record`; otherwise
   * `record` for `vitest -u` if `@mcpx/testing/vitest` is imported, and `auto` in other cases.
   */
  readonly mode?: RecordMode | undefined
}

/**
 * Returns a connector that records its connections. The file is written when a connection has ended, so close the client.
 * Secrets are replaced by `[redacted]`. The file has one line per member, so that changes are readable in a review.
 */
export function record(target: Responder | Connector, file: string, options?: RecordOptions): Connector {
  checkFile('record', file)
  checkRecordOptions('record', options)
  return recordTranscript(target, (transcript) => save('record', file, transcript), options)
}

/**
 * Returns a connector whose responses come from a file that `record` has written. It needs no server and no network.
 *
 * @throws Error if the file cannot be read, and `TypeError` if it is not a transcript
 */
export function replay(file: string, options?: RecordOptions): Connector {
  checkRecordOptions('replay', options)
  const transcript = load('replay', file) as Transcript
  return replaySteps(new RecordedSteps(transcript, { ...options, place: `replay ${file}` }))
}

/**
 * Returns a connector that compares the server with a file that `record` has written. A request whose response differs
 * rejects with an error that lists the differences.
 *
 * @throws Error if the file cannot be read, and `TypeError` if it is not a transcript
 */
export function compare(target: Responder | Connector, file: string, options?: RecordOptions): Connector {
  checkRecordOptions('compare', options)
  const transcript = load('compare', file) as Transcript
  return compareSteps(
    target,
    new RecordedSteps(transcript, { ...options, place: `compare ${file}`, ignoresChosen: true }),
  )
}

/**
 * Replays the file if it exists, and records it otherwise. With the environment variable `MCPX_RECORD=1`, it always
 * records; with `MCPX_RECORD=compare`, it compares the server with the file. With `CI` set, a missing file is an error.
 *
 * ```ts
 * await using client = await connect(recordOnce(http(url), 'test/search.transcript.json'))
 * ```
 */
export function recordOnce(target: Responder | Connector, file: string, options: RecordOnceOptions = {}): Connector {
  refuseUnknownOption('recordOnce', options, ['mode', 'redact'] satisfies (keyof RecordOnceOptions)[])
  checkFile('recordOnce', file)
  const { mode = modeOfEnvironment(), redact } = options
  if (mode === 'record') return record(target, file, { redact })
  if (mode === 'compare') return compare(target, file, { redact })
  if (mode !== 'auto' && mode !== 'replay') {
    throw new TypeError(`recordOnce, mode: expected auto, replay, record or compare, got ${JSON.stringify(mode)}`)
  }
  if (mode === 'replay' || existsSync(file) || process.env.CI) return replay(file, { redact })
  return record(target, file, { redact })
}

function checkRecordOptions(place: string, options: RecordOptions = {}): void {
  refuseUnknownOption(place, options, ['redact'] satisfies (keyof RecordOptions)[])
}

function modeOfEnvironment(): RecordMode {
  const { MCPX_RECORD: value = '' } = process.env
  if (value === '' && isUpdateMode()) return 'record'
  if (['', '0', 'false'].includes(value)) return 'auto'
  if (value === '1' || value === 'true') return 'record'
  if (value === 'record' || value === 'replay' || value === 'compare') return value
  throw new TypeError(`MCPX_RECORD: expected 1, replay or compare, got ${JSON.stringify(value)}`)
}

/** Options of `contract`. */
export interface ContractFileOptions {
  /**
   * Whether the file is written again. Default: whether the environment variable `MCPX_RECORD` is 1, or Vitest runs with
   * `-u` and `@mcpx/testing/vitest` is imported.
   */
  readonly update?: boolean | undefined
}

/**
 * Checks that the tools, prompts and resources of a server match a lock file. `mcpx lock` writes such files as well.
 * Writes the file if it is missing, or if it is to be updated. With `CI` set, a missing file is an error.
 *
 * ```ts
 * test('keeps its contract', () => contract(server, 'mcpx.lock.json'))
 * ```
 *
 * @throws LockError if the server differs
 */
export async function contract(
  server: Responder | Connector,
  file: string,
  options: ContractFileOptions = {},
): Promise<void> {
  checkFile('contract', file)
  refuseUnknownOption('contract', options, ['update'] satisfies (keyof ContractFileOptions)[])
  const { update = modeOfEnvironment() === 'record' } = options
  const isWritten = update || !(existsSync(file) || process.env.CI)
  const expected = isWritten ? undefined : (load('contract', file) as ServerLock)
  const client = await connect(server)
  try {
    const current = await createLock(client)
    if (expected === undefined) return save('contract', file, current)
    const differences = compareWithFile(expected, current, file)
    if (differences.length > 0) throw new LockError(differences)
  } finally {
    await client.close()
  }
}

function compareWithFile(expected: ServerLock, current: ServerLock, file: string): readonly LockDifference[] {
  try {
    return compareLock(expected, current)
  } catch (cause) {
    throw new TypeError(`contract: ${file} is not a lock: ${(cause as Error).message}`, { cause })
  }
}

function checkFile(place: string, file: string): void {
  if (typeof file !== 'string' || file === '')
    throw new TypeError(`${place}: expected the path of a file, got ${kindOf(file)}`)
}

function load(place: string, file: string): unknown {
  checkFile(place, file)
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

/** Writes the file atomically, so that it is complete even if the process ends, or if two processes write at once. */
function save(place: string, file: string, content: object): void {
  const partial = `${file}.${randomUUID()}.tmp`
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(partial, `${JSON.stringify(content, undefined, 2)}\n`)
    renameSync(partial, file)
  } catch (cause) {
    if (existsSync(partial)) rmSync(partial)
    throw new Error(`${place}: cannot write ${file}: ${(cause as Error).message}`, { cause })
  }
}
