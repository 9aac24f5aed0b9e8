/** What a server shows that does not speak the modern era, and how it is spoken with: loaded when there is one. */

import { ConnectionError, type Connector, ErrorCode, isRevision, type Revision, RpcError } from '@mcpx/protocol'
import { guarded, type Line } from '../line.ts'
import { invalidResult, type Link } from './era.ts'
import { mutualRevision, supportedBy } from './modern-send.ts'

export type Silence = Connector['silence']

export interface Probe {
  readonly silence: Silence
  /** How long the server may take, in ms. Default: the time that every call gets. */
  readonly limit: number | undefined
}

/** What a probe shows if it is not the modern era. */
export interface Finding {
  readonly line: Line
  readonly evidence: unknown
  /** A revision that the server says it speaks. */
  readonly offer?: Revision | undefined
}

/** What a refused probe shows, or the modern revision to probe with once more. Throws what shows nothing. */
export function readRefusal(line: Line, error: unknown, { silence, limit }: Probe): Finding | { agreed: Revision } {
  const supported = supportedBy(error)
  const agreed = mutualRevision(supported)
  if (agreed !== undefined) return { agreed }
  const offer = olderRevision(supported)
  if (offer !== undefined || speaksOfEra(error, silence)) return { line, evidence: error, offer }
  throw limit !== undefined && reasonOf(error) === 'timeout' ? saysNothing(limit, error) : error
}

/** What an answered probe shows that names no modern revision, or is no answer at all. */
export function readOther(line: Line, result: unknown, problem: string | undefined): Finding {
  const supported = (result as { supportedVersions?: unknown } | null)?.supportedVersions
  if (problem !== undefined) {
    const evidence = invalidResult('server/discover', problem)
    if (supported !== undefined) throw evidence
    return { line, evidence }
  }
  const offer = olderRevision(supported)
  const evidence = noMutual(supported as readonly string[])
  if (offer === undefined) throw evidence
  return { line, evidence, offer }
}

/** A revision of the era before, where a server names nothing newer. */
function olderRevision(supported: unknown): Revision | undefined {
  return Array.isArray(supported) ? supported.filter(isRevision).sort().at(-1) : undefined
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
export async function ifStillSpoken(open: Open, silence: Silence, speak: Speak): Promise<Link | undefined> {
  const line = await open()
  try {
    return await guarded(line, speak)
  } catch (error) {
    if (error instanceof RpcError || speaksOfEra(error, silence)) return undefined
    throw error
  }
}

/** Speaks another era after a probe, over a new connection if the server did not survive the probe. */
export async function fallBack(open: Open, { line, evidence }: Finding, speak: Speak): Promise<Link> {
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

/** Whether a server was only silent: it may be awake the next time. */
export function wasSilent({ evidence }: Finding): boolean {
  return reasonOf(evidence) === 'timeout'
}

function isGone(error: unknown): boolean {
  const reason = reasonOf(error)
  return reason === 'closed' || reason === 'exited'
}

function reasonOf(error: unknown): ConnectionError['reason'] | undefined {
  return error instanceof ConnectionError ? error.reason : undefined
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

/** Ends a connection that the era which was asked for is not spoken over. */
export async function notModern({ line, evidence: cause }: Finding): Promise<ConnectionError> {
  await line.connection.close()
  const hint = 'Leave out the era option to speak with servers of any age.'
  return new ConnectionError('unsupported', 'The server does not speak the modern era', { hint, cause })
}
