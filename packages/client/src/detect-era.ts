/**
 * Determines the era of a server, and opens a connection of this era. The client first sends `server/discover`. If the
 * server does not support it, the client sends `initialize`.
 */

import {
  type Awaitable,
  ConnectionError,
  type Connector,
  check,
  DiscoverResult,
  type Era,
  eraOf,
  isRevision,
  type Revision,
  RpcError,
} from '@mcpx/protocol'
import { BoundedMap } from './bounded-map.ts'
import { openConnection, type Target, type UndeterminedConnection } from './connection.ts'
import { type EraConnection, type FirstRequestOptions, invalidResult, newestRevision } from './era.ts'
import { openLegacy } from './legacy.ts'
import { discoverServer, isLegacyRefusal, ModernConnection, PROBE_TIMEOUT, supportedBy } from './modern.ts'
import type { EraMemory } from './options.ts'
import type { ClientState } from './state.ts'

/** The default time limit for connecting, in ms. */
const CONNECT_TIMEOUT = 30_000

/** How many servers are remembered. Above this number, the oldest entry is removed. */
const MAX_REMEMBERED = 1_000

/** Creates a separate memory for the eras of servers. By default, all clients of a process share one memory. */
export function createEraMemory(): EraMemory {
  const eras = new BoundedMap<Era>(MAX_REMEMBERED)
  return {
    get: (peer) => eras.get(peer),
    set(peer, era) {
      if (era === undefined) eras.delete(peer)
      else eras.set(peer, era)
    },
  }
}

const processMemory = createEraMemory()

/** Opens a connection of the era of the server, or of the era that the options require. */
export function connectToServer(state: ClientState, target: Target, signal?: AbortSignal): Promise<EraConnection> {
  return new EraDetection(state, target, signal).connect()
}

/** The evidence that a server is not modern. */
interface LegacyEvidence {
  readonly undetermined: UndeterminedConnection
  readonly error: unknown
  /** The revision that the server offered. */
  readonly offer: Revision | undefined
}

class EraDetection {
  readonly #state: ClientState
  readonly #target: Target
  readonly #signal: AbortSignal | undefined
  readonly #connector: Pick<Connector, 'peer' | 'probeTimeout' | 'silence'>
  /** The newest connection. */
  #undetermined: UndeterminedConnection | undefined
  /**
   * The time that is left for connecting, in ms. Only the time of waiting for the server counts, not the time of a
   * login.
   */
  #timeLeft: number
  /** Descriptions of the requests that were not answered in time, for the error message. */
  readonly #unanswered: string[] = []

  constructor(state: ClientState, target: Target, signal: AbortSignal | undefined) {
    this.#state = state
    this.#target = target
    this.#signal = signal
    this.#connector = 'respond' in target ? {} : target
    this.#timeLeft = state.options.connectTimeout ?? CONNECT_TIMEOUT
  }

  /** Connects. After a failure, ends the process and closes the connection that it has opened. */
  async connect(): Promise<EraConnection> {
    try {
      return await this.#detect()
    } catch (error) {
      const closing = this.#undetermined?.connection.close().catch(this.#state.onWarning)
      // Wait until a process has ended. Do not wait for an HTTP server, which may need long to delete the session.
      if (this.#startsProcess) await closing
      throw this.#explain(error)
    }
  }

  async #detect(): Promise<EraConnection> {
    const { era = 'auto' } = this.#state.options
    const revision = isRevision(era) ? era : undefined
    const wanted = isRevision(era) ? eraOf(era) : era
    if (wanted === 'legacy') return this.#openLegacy(await this.#open(), revision)
    const known = wanted === 'auto' ? await this.#connectAsRemembered() : undefined
    if (known !== undefined) return known
    const probed = await this.#probe(await this.#open(), wanted === 'auto' ? this.#probeTimeout() : undefined)
    if ('era' in probed) {
      if (wanted === 'auto') await this.#remember('modern')
      return probed
    }
    if (wanted === 'modern') throw reasonOf(probed.error) === 'timeout' ? probed.error : notModernError(probed.error)
    const connection = await this.#fallBack(probed)
    // If the server did not respond in time, the era is only a guess, so do not store it.
    const isSure = connection.era === 'modern' || reasonOf(probed.error) !== 'timeout'
    await this.#remember(isSure ? connection.era : undefined)
    return connection
  }

  /** Opens a connection instead of the previous one. */
  async #open(): Promise<UndeterminedConnection> {
    await this.#undetermined?.connection.close()
    this.#undetermined = await openConnection(this.#target, this.#state, this.#signal)
    return this.#undetermined
  }

  async #remember(era: Era | undefined): Promise<void> {
    await this.#useMemory((memory, peer) => memory.set(peer, era))
  }

  async #useMemory<T>(use: (memory: EraMemory, peer: string) => Awaitable<T>): Promise<T | undefined> {
    const { peer } = this.#connector
    try {
      return peer === undefined ? undefined : await use(this.#state.options.eraMemory ?? processMemory, peer)
    } catch (error) {
      this.#state.onWarning(error as Error)
      return undefined
    }
  }

  /**
   * Connects in the legacy era if the server is remembered as legacy. Returns undefined if it is not remembered as
   * legacy, or if it has become modern.
   */
  async #connectAsRemembered(): Promise<EraConnection | undefined> {
    if ((await this.#useMemory((memory, peer) => memory.get(peer))) !== 'legacy') return undefined
    try {
      return await this.#openLegacy(await this.#open(), undefined)
    } catch (error) {
      const isNoLongerLegacy = error instanceof RpcError || (reasonOf(error) !== 'timeout' && this.#isEvidence(error))
      if (isNoLongerLegacy) return undefined
      throw error
    }
  }

  /** Returns the timeout of the probe. If a missing response means a legacy server, it leaves time for `initialize`. */
  #probeTimeout(): number {
    const { probeTimeout = PROBE_TIMEOUT, silence } = this.#connector
    if (silence === 'nothing' || probeTimeout < this.#timeLeft) return Math.min(probeTimeout, this.#timeLeft)
    return this.#timeLeft / 2
  }

  /** Sends `server/discover`. Resolves to a modern connection, or to the reason why the server is not modern. */
  async #probe(
    undetermined: UndeterminedConnection,
    probeTimeout: number | undefined,
  ): Promise<ModernConnection | LegacyEvidence> {
    const discover = (revision?: Revision) =>
      this.#send(
        'server/discover',
        (options) => discoverServer(this.#state, undetermined.connection, revision, options),
        probeTimeout,
      )
    let agreed: Revision | undefined
    let result: unknown
    try {
      result = await discover()
    } catch (error) {
      const supported = supportedBy(error)
      agreed = newestRevision(supported, 'modern')
      if (agreed === undefined) {
        const offer = newestRevision(supported, 'legacy')
        if (offer === undefined && !this.#isEvidence(error)) throw error
        return { undetermined, error, offer }
      }
      result = await discover(agreed)
    }
    const { value, problem } = check(DiscoverResult, result, 'result')
    const revision = value && (newestRevision(value.supportedVersions, 'modern') ?? agreed)
    if (revision === undefined) return { undetermined, ...readOtherResult(result, problem) }
    return new ModernConnection(this.#state, undetermined, value as DiscoverResult, revision)
  }

  /**
   * Returns whether an error shows that the server is not modern. Errors of guards, outages and cancelled requests do
   * not show this.
   */
  #isEvidence(error: unknown): boolean {
    const reason = reasonOf(error)
    if (reason === 'timeout') return this.#connector.silence !== 'nothing'
    return isLegacyRefusal(error) || reason === 'exited' || reason === 'closed' || reason === 'invalid-message'
  }

  /** Connects in the legacy era after a probe. Opens a new connection if the probe has ended the first connection. */
  async #fallBack({ undetermined, error, offer }: LegacyEvidence): Promise<EraConnection> {
    if (!undetermined.ended && !isGone(error)) {
      try {
        return await this.#openLegacy(undetermined, offer)
      } catch (failure) {
        if (failure instanceof RpcError && reasonOf(error) === 'timeout') return this.#probeAgain(undetermined, failure)
        if (failure instanceof RpcError && this.#startsProcess) return this.#startAgain(failure, offer)
        // Some servers respond to the probe and exit.
        if (!isGone(failure)) throw failure
      }
    }
    return this.#openLegacy(await this.#open(), offer)
  }

  /**
   * Sends a second probe. A modern server that was not ready for the first probe refuses `initialize`, and responds to
   * the second probe.
   */
  async #probeAgain(undetermined: UndeterminedConnection, refusal: RpcError): Promise<EraConnection> {
    const probed = await this.#probe(undetermined, this.#timeLeft)
    if ('era' in probed) return probed
    throw refusal
  }

  /** Whether each connection starts a server process, as over stdio. */
  get #startsProcess(): boolean {
    return 'connect' in this.#target && this.#connector.silence !== 'nothing'
  }

  /**
   * Starts the process again and connects without a probe. Some bridges open a session for the probe, and then refuse
   * `initialize` until they are started again.
   */
  async #startAgain(cause: RpcError, offer: Revision | undefined): Promise<EraConnection> {
    const connection = await this.#openLegacy(await this.#open(), offer)
    const message = 'The server refused initialize after server/discover: it was started again without server/discover'
    const hint = "Pass era: 'legacy' to connect so that the server is started only once."
    this.#state.onWarning(new ConnectionError('refused', message, { hint, cause }))
    return connection
  }

  async #openLegacy(undetermined: UndeterminedConnection, offer: Revision | undefined): Promise<EraConnection> {
    const session = await this.#send('initialize', (options) => openLegacy(this.#state, undetermined, offer, options))
    await this.#send('notifications/initialized', (options) => session.start(options))
    const { logLevel } = this.#state.options
    if (logLevel !== undefined && session.server.capabilities.logging !== undefined) {
      const level = this.#state.logLevel ?? logLevel
      await this.#send('logging/setLevel', (options) => session.setLogLevel(level, options))
    }
    return session
  }

  /**
   * Sends one of the first requests, and subtracts its duration from the time that is left. If there is no response in
   * time, the error names the request.
   */
  async #send<T>(
    method: string,
    send: (options: FirstRequestOptions) => Promise<T>,
    timeout: number = Math.min(this.#state.options.timeout ?? this.#timeLeft, this.#timeLeft),
  ): Promise<T> {
    try {
      return await send({ signal: this.#signal, timeout })
    } catch (error) {
      if (reasonOf(error) === 'timeout') {
        this.#unanswered.push(`to ${method} within ${timeout} ms`)
        this.#timeLeft = Math.max(1, this.#timeLeft - timeout)
      }
      throw error
    }
  }

  /** Returns an error that names the requests without a response, and the invalid message that the server sent instead. */
  #explain(error: unknown): unknown {
    if (reasonOf(error) !== 'timeout' || this.#unanswered.length === 0) return error
    const invalidMessage = this.#undetermined?.invalidMessage
    const isNetwork = this.#connector.silence === 'nothing'
    const check = isNetwork
      ? 'Check that the URL belongs to an MCP server and that the server runs'
      : 'Check that the command starts an MCP server that writes only messages to its standard output'
    const options = isNetwork ? 'connectTimeout, or probeTimeout' : 'connectTimeout'
    const message = `No response ${this.#unanswered.join(', nor ')}${invalidMessage === undefined ? '' : `. ${invalidMessage.message}`}`
    return new ConnectionError('timeout', message, {
      retryable: true,
      hint: `${check}; or pass a longer ${options}.`,
      cause: invalidMessage ?? error,
    })
  }
}

/** Determines the evidence in a result of `server/discover` that names no common modern revision. */
function readOtherResult(result: unknown, problem: string | undefined): Pick<LegacyEvidence, 'error' | 'offer'> {
  const supported = (result as { supportedVersions?: unknown } | null)?.supportedVersions
  if (problem !== undefined) {
    const error = invalidResult('server/discover', problem)
    if (supported !== undefined) throw error
    return { error, offer: undefined }
  }
  const offer = newestRevision(supported, 'legacy')
  const error = noMutualRevisionError(supported as readonly string[])
  if (offer === undefined) throw error
  return { error, offer }
}

function isGone(error: unknown): boolean {
  const reason = reasonOf(error)
  return reason === 'closed' || reason === 'exited'
}

function reasonOf(error: unknown): ConnectionError['reason'] | undefined {
  return error instanceof ConnectionError ? error.reason : undefined
}

function noMutualRevisionError(supported: readonly string[]): ConnectionError {
  const message = `The server and this client have no revision in common; the server supports ${supported.join(', ')}`
  return new ConnectionError('unsupported', message)
}

function notModernError(cause: unknown): ConnectionError {
  const hint = 'Leave out the era option to connect to servers of any revision.'
  return new ConnectionError('unsupported', 'The server does not support the modern era', { hint, cause })
}
