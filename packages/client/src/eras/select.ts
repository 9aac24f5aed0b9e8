/**
 * Finds out which era a server speaks, and speaks it. Deleting the `legacy*` files and every line that names one
 * leaves a client of the modern era.
 */

import {
  ConnectionError,
  type Connector,
  check,
  DiscoverResult,
  type Era,
  ErrorCode,
  eraOf,
  isRevision,
  type Revision,
  RpcError,
} from '@mcpx/protocol'
import type { Core } from '../core.ts'
import { type Line, openLine, type Target } from '../line.ts'
import type { EraMemory } from '../options.ts'
import { invalidResult, type Link } from './era.ts'
import { discover, openModern } from './modern.ts'
import { mutualRevision, supportedBy } from './modern-send.ts'

/** Loaded by the first server that is this old. */
const openLegacy = async (...args: LegacyArgs) => (await import('./legacy.ts')).openLegacy(...args)
type LegacyArgs = Parameters<typeof import('./legacy.ts').openLegacy>

/** How long a server may take to show its era, in ms, unless the connector says otherwise. */
const PROBE_TIMEOUT = 5_000

/** Connects and makes the connection speak. What the era turned out to be is remembered for the next time. */
export async function openLink(core: Core, target: Target, memory: EraMemory, signal?: AbortSignal): Promise<Link> {
  const { era: pin = 'auto' } = core.options
  const revision = isRevision(pin) ? pin : undefined
  const wanted = revision === undefined ? (pin as 'auto' | Era) : eraOf(revision)
  const { peer, probeTimeout = PROBE_TIMEOUT, silence } = 'respond' in target ? {} : target
  const memo = wanted === 'auto' && peer !== undefined ? recall(memory, peer) : undefined
  const open = () => openLine(target, core.report, signal)
  const remembered = await memo?.get()
  let known = undefined as Link | undefined
  if (wanted === 'legacy') return guarded(await open(), (line) => openLegacy(core, line, revision))
  if (remembered === 'legacy') known = await ifStillSpoken(open, silence, (line) => openLegacy(core, line))
  if (known !== undefined) return known
  const found = await probe(core, await open(), { silence, limit: wanted === 'auto' ? probeTimeout : undefined })
  if ('era' in found) {
    await memo?.set(found.era)
    return found
  }
  let older = undefined as Link | undefined
  if (wanted === 'auto') older = await fallBack(open, found, (line) => openLegacy(core, line, found.offer))
  if (older === undefined) throw await notModern(found)
  // A server that was only silent may be awake the next time.
  await memo?.set(reasonOf(found.evidence) === 'timeout' ? undefined : older.era)
  return older
}

function recall(memory: EraMemory, peer: string) {
  return { get: () => memory.get(peer), set: (era: Era | undefined) => memory.set(peer, era) }
}

type Silence = Connector['silence']

interface Probe {
  readonly silence: Silence
  /** How long the server may take, in ms. Default: the time that every call gets. */
  readonly limit: number | undefined
}

/** What a probe shows if it is not the modern era. */
interface Finding {
  readonly line: Line
  readonly evidence: unknown
  /** A revision that the server says it speaks. */
  readonly offer?: Revision | undefined
}

async function probe(core: Core, line: Line, { silence, limit }: Probe): Promise<Link | Finding> {
  return guarded(line, async () => {
    let agreed: Revision | undefined
    let result: unknown
    try {
      result = await discover(core, line, undefined, limit)
    } catch (error) {
      const supported = supportedBy(error)
      agreed = mutualRevision(supported)
      const offer = olderRevision(supported)
      if (agreed === undefined && offer === undefined && !speaksOfEra(error, silence)) {
        throw limit !== undefined && reasonOf(error) === 'timeout' ? saysNothing(limit, error) : error
      }
      if (agreed === undefined) return { line, evidence: error, offer }
      result = await discover(core, line, agreed, limit)
    }
    return readProbe(core, line, result, agreed)
  })
}

async function readProbe(core: Core, line: Line, result: unknown, agreed?: Revision): Promise<Link | Finding> {
  const { value, problem } = check(DiscoverResult, result, 'result')
  if (problem !== undefined) {
    const error = invalidResult('server/discover', problem)
    if (Object.hasOwn(result as object, 'supportedVersions')) throw error
    return { line, evidence: error }
  }
  const revision = mutualRevision(value.supportedVersions) ?? agreed
  if (revision !== undefined) {
    line.listener = { hear: core.hear }
    return openModern(core, line, value, revision)
  }
  const offer = olderRevision(value.supportedVersions)
  const evidence = noMutual(value.supportedVersions)
  if (offer === undefined) throw evidence
  return { line, evidence, offer }
}

/** A revision of the era before, where a server names nothing newer. */
function olderRevision(supported: unknown): Revision | undefined {
  if (!Array.isArray(supported)) return undefined
  return supported.filter(isRevision).sort().at(-1)
}

/**
 * Whether a failure says that the server does not speak the modern era. A guard, an outage or a cancelled call say
 * nothing about it, and the errors that only a modern server knows say the opposite.
 */
function speaksOfEra(error: unknown, silence: Silence): boolean {
  if (error instanceof RpcError) return !isModernOnly(error)
  if (!(error instanceof ConnectionError)) return false
  const { reason, status = 0 } = error
  if (reason === 'timeout') return silence !== 'nothing'
  if (reason !== 'refused') return speaking.has(reason)
  return status >= 400 && status < 500 && !guards.has(status)
}

const speaking = new Set<ConnectionError['reason']>(['exited', 'closed', 'invalid-message'])
const guards = new Set([401, 403, 407, 408, 429])

function isModernOnly({ code, data }: RpcError): boolean {
  if (code === ErrorCode.HeaderMismatch || code === ErrorCode.MissingRequiredClientCapability) return true
  const supported = (data as { supported?: unknown } | undefined)?.supported
  return code === ErrorCode.UnsupportedProtocolVersion && Array.isArray(supported) && supported.length > 0
}

type Open = () => Promise<Line>
type Speak = (line: Line) => Promise<Link>

/** The link of a remembered era, or nothing when the server no longer speaks it. */
async function ifStillSpoken(open: Open, silence: Silence, speak: Speak): Promise<Link | undefined> {
  const line = await open()
  try {
    return await guarded(line, speak)
  } catch (error) {
    if (error instanceof RpcError || speaksOfEra(error, silence)) return undefined
    throw error
  }
}

/** Speaks another era after a probe, over a new connection if the server did not survive the probe. */
async function fallBack(open: Open, { line, evidence }: Finding, speak: Speak): Promise<Link> {
  if (!line.ended && !isGone(evidence)) {
    try {
      return await guarded(line, speak)
    } catch (error) {
      // It answered the probe before it went.
      if (!isGone(error)) throw error
    }
  }
  await line.connection.close()
  return guarded(await open(), speak)
}

function isGone(error: unknown): boolean {
  const reason = reasonOf(error)
  return reason === 'closed' || reason === 'exited'
}

function reasonOf(error: unknown): ConnectionError['reason'] | undefined {
  return error instanceof ConnectionError ? error.reason : undefined
}

/** What fails leaves no connection behind. */
async function guarded<T>(line: Line, run: (line: Line) => Promise<T>): Promise<T> {
  try {
    return await run(line)
  } catch (error) {
    await line.connection.close()
    throw error
  }
}

function noMutual(supported: readonly string[]): ConnectionError {
  const message = `The server and this client have no revision in common; the server speaks ${supported.join(', ')}`
  return new ConnectionError('unsupported', message)
}

function saysNothing(limit: number, cause: unknown): ConnectionError {
  const hint = 'See that the URL names the server and that it runs; or pass a longer probeTimeout, or the era.'
  const message = `The server did not say within ${limit} ms which era it speaks`
  return new ConnectionError('timeout', message, { retryable: true, hint, cause })
}

async function notModern({ line, evidence: cause }: Finding): Promise<ConnectionError> {
  await line.connection.close()
  const hint = 'Leave out the era option to speak with servers of any age.'
  return new ConnectionError('unsupported', 'The server does not speak the modern era', { hint, cause })
}
