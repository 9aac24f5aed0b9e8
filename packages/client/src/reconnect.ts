/** Keeps one connection to a server. After it has ended, opens a new one when it is needed. */

import { ConnectionError } from '@mcpx/protocol'
import { withSignal } from './async.ts'
import type { Target } from './connection.ts'
import { connectToServer } from './detect-era.ts'
import type { EraConnection } from './era.ts'
import type { ClientState } from './state.ts'

export class Reconnector {
  readonly #state: ClientState
  readonly #target: Target
  readonly #closing = new AbortController()
  #current: EraConnection
  #opening: Promise<EraConnection> | undefined

  private constructor(state: ClientState, target: Target, current: EraConnection) {
    this.#state = state
    this.#target = target
    this.#current = current
  }

  /** Opens the first connection. */
  static async start(state: ClientState, target: Target): Promise<Reconnector> {
    return new Reconnector(state, target, await connectToServer(state, target, state.options.signal))
  }

  /** The newest connection, which may have ended. */
  get current(): EraConnection {
    return this.#current
  }

  /** Aborted when the client is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** Resolves to a connection that has not ended. Rejects when the signal is aborted or the client is closed. */
  async connect(label: string, signal?: AbortSignal): Promise<EraConnection> {
    this.#throwIfClosed()
    if (!this.#current.ended) return this.#current
    this.#opening ??= this.#reopen()
    const opening = this.#opening
    return withSignal(label, signal, () => opening)
  }

  /**
   * Runs a function with a connection. If the server refuses the request because it has lost the session or changed its
   * era, runs the function once more over a new connection. This is safe, because the server has not processed the
   * request.
   */
  async use<Result>(
    label: string,
    signal: AbortSignal | undefined,
    run: (connection: EraConnection) => Promise<Result>,
  ): Promise<Result> {
    const isUsable = !this.#current.ended && !this.closing.aborted
    const connection = isUsable ? this.#current : await this.connect(label, signal)
    try {
      return await run(connection)
    } catch (error) {
      if (!isConnectionOutdated(error)) throw error
      await connection.connection.closed
      return run(await this.connect(label, signal))
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(closedError())
    await this.#current.connection.close()
    await this.#opening?.catch(() => {})
  }

  async #reopen(): Promise<EraConnection> {
    try {
      await this.#current.connection.close()
      const connection = await connectToServer(this.#state, this.#target, this.closing)
      this.#current = connection
      if (this.closing.aborted) await connection.connection.close()
      this.#throwIfClosed()
      return connection
    } catch (error) {
      this.#throwIfClosed()
      throw error
    } finally {
      this.#opening = undefined
    }
  }

  #throwIfClosed(): void {
    if (this.closing.aborted) throw closedError()
  }
}

function closedError(): ConnectionError {
  return new ConnectionError('closed', 'The client was closed')
}

/** Returns whether the server refused a request because it no longer knows the session, or no longer supports the era. */
function isConnectionOutdated(error: unknown): boolean {
  return error instanceof ConnectionError && error.reason === 'closed' && error.status !== undefined && error.retryable
}
