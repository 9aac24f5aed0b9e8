/** The rig of a behaviour: it connects clients of one revision to servers in the same process and closes them afterwards. */

import { type Client, type ClientOptions, connect } from '@mcpx/client'
import {
  type AuthInfo,
  ConnectionError,
  type Connector,
  type Era,
  eraOf,
  type Responder,
  type Revision,
} from '@mcpx/protocol'
import { settled } from '@mcpx/testing'
import type { MatrixTransport, TransportOptions } from './transports/transport.ts'
import { createTransport, hasSeparateRequests, type TransportName } from './transports.ts'

export interface RigOptions extends ClientOptions {
  /** The authenticated caller, as an HTTP guard would report it. */
  readonly auth?: AuthInfo | undefined
  /** Another revision than the one under test, for the connection behind a proxy. */
  readonly era?: Revision | undefined
}

export interface Rig {
  readonly revision: Revision
  readonly era: Era
  readonly transport: TransportName
  /** Whether each request is an HTTP request of its own; otherwise one connection carries all messages. */
  readonly separateRequests: boolean
  /** The warnings of both sides. Warnings that remain at the end fail the behaviour. */
  readonly warnings: readonly Error[]
  /** Removes the expected warnings. */
  removeWarnings(expected: RegExp): void
  /** Waits for a promise; rejects with the description after a timeout. */
  waitFor<Value>(description: string, promise: PromiseLike<Value>): Promise<Value>
  /** Connects a client of the revision under test. It is closed at the end. */
  connect<Server extends Responder>(server: Server, options?: RigOptions): Promise<Client<Server>>
  /** Connects a client with a given connector. */
  connectOver(connector: Connector, options?: ClientOptions): Promise<Client>
  /** Opens the transport under test to a server. */
  open(server: Responder, options?: TransportOptions): MatrixTransport
}

/** The timeout of calls and waits, in milliseconds; shorter than that of tests. */
const TIMEOUT = 4_000

/**
 * Runs one behaviour and closes everything that it opened.
 *
 * @param waitTimeout the timeout of `waitFor`, in milliseconds. Default: 4,000.
 */
export async function withRig(
  revision: Revision,
  transport: TransportName,
  run: (rig: Rig) => Promise<void>,
  waitTimeout = TIMEOUT,
): Promise<void> {
  const clients: Client[] = []
  const calls: Promise<unknown>[] = []
  const closers: (() => void)[] = []
  const warnings: Error[] = []
  const onWarning = (problem: Error) => void warnings.push(problem)
  const rig: Rig = {
    revision,
    era: eraOf(revision),
    transport,
    separateRequests: hasSeparateRequests(transport, revision),
    warnings,
    removeWarnings(expected) {
      const others = warnings.splice(0).filter(({ message }) => !expected.test(message))
      warnings.push(...others)
    },
    waitFor: (description, promise) => withTimeout(waitTimeout, description, promise),
    open(server, options = {}) {
      const opened = createTransport(transport, server, { revision, onWarning, ...options })
      if (opened.close !== undefined) closers.push(opened.close)
      return opened
    },
    async connect<Server extends Responder>(server: Server, { auth, ...options }: RigOptions = {}) {
      const { connector } = rig.open(server, { auth, revision: options.era ?? revision })
      return (await rig.connectOver(connector, options)) as Client<Server>
    },
    async connectOver(connector, options = {}) {
      const client = await connect(connector, { era: revision, timeout: TIMEOUT, onWarning, ...options })
      clients.push(client)
      return recordCalls(client, calls)
    },
  }
  let warningsOfRun = 0
  try {
    await run(rig)
    warningsOfRun = warnings.length
  } catch (error) {
    // A failed behaviour does not await its remaining calls.
    for (const call of calls) call.catch(() => {})
    throw error
  } finally {
    for (const client of clients.reverse()) await client.close()
    for (const close of closers) close()
  }
  await settled()
  // Closing the client may cause warnings about the closed connection.
  for (const [index, warning] of warnings.entries()) if (index < warningsOfRun || !isClosed(warning)) throw warning
}

/** Wraps the client so that the promises of its methods are recorded. */
function recordCalls(client: Client, calls: Promise<unknown>[]): Client {
  return new Proxy(client, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        const returned: unknown = member.apply(target, args)
        if (returned instanceof Promise) calls.push(returned)
        return returned
      }
    },
  })
}

async function withTimeout<Value>(ms: number, description: string, promise: PromiseLike<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timedOut = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Timed out waiting for ${description}`)), ms)
  })
  return Promise.race([promise, timedOut]).finally(() => clearTimeout(timer))
}

function isClosed(warning: Error): boolean {
  return warning instanceof ConnectionError && warning.reason === 'closed'
}
