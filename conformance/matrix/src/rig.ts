/** Connects clients of one revision to servers in the same process for a behaviour test, and closes them afterwards. */

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
import { waitForTasks } from '@mcpx/testing'
import { observeConnector, type Step } from '@mcpx/testing/server'
import type { MatrixTransport, TransportOptions } from './transports/transport.ts'
import { createTransport, hasSeparateRequests, type TransportName } from './transports.ts'

export interface RigOptions extends ClientOptions {
  /** The authenticated caller, as an HTTP guard would return it. Default: none. */
  readonly auth?: AuthInfo | undefined
  /** The revision of this connection, for servers behind a proxy. Default: the revision under test. */
  readonly era?: Revision | undefined
}

/** The functions and facts that a behaviour test receives. */
export interface Rig {
  readonly revision: Revision
  readonly era: Era
  readonly transport: TransportName
  /** Whether each message is sent in a separate HTTP request. Otherwise one connection carries all messages. */
  readonly separateRequests: boolean
  /** The warnings of clients and servers. If any are left at the end, the test fails. */
  readonly warnings: readonly Error[]
  /** Removes the warnings whose message matches. */
  removeWarnings(expected: RegExp): void
  /** Waits for a promise. After a timeout, rejects with an error that contains the description. */
  waitFor<Value>(description: string, promise: PromiseLike<Value>): Promise<Value>
  /** Connects a client of the revision under test to a server. Both are closed at the end. */
  connect<Server extends Responder>(server: Server, options?: RigOptions): Promise<Client<Server>>
  /** Connects a client with a connector. The client is closed at the end. */
  connectOver(connector: Connector, options?: ClientOptions): Promise<Client>
  /** Opens the transport under test to a server. */
  open(server: Responder, options?: TransportOptions): MatrixTransport
}

/** The timeout of calls and of `waitFor`, in ms. It is shorter than the timeout of tests, so that the error names the wait. */
const TIMEOUT = 4_000

/**
 * Runs one behaviour test, and closes all clients and transports that it opened. Throws the first warning that was not
 * removed.
 *
 * @param waitTimeout the timeout of `waitFor`, in ms. Default: 4,000.
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
    // A failed test does not await its remaining calls, so their rejections are handled here.
    for (const call of calls) call.catch(() => {})
    throw error
  } finally {
    for (const client of clients.reverse()) await client.close()
    for (const close of closers) close()
  }
  await waitForTasks()
  // Ignores warnings about connections that were closed with the clients above.
  for (const [index, warning] of warnings.entries()) if (index < warningsOfRun || !isClosed(warning)) throw warning
}

type Notification = Extract<Step, { from: 'server'; method: string }>

/** Returns a connector that records the notifications of the server before the client handles them, and the notifications. */
export function recordNotifications(connector: Connector) {
  const notifications: Notification[] = []
  const recording = observeConnector(connector, (step) => {
    if (step.from === 'server' && 'method' in step && !('question' in step)) notifications.push(step)
  })
  return { recording, notifications }
}

/** Wraps a client and records the promises that its methods return. */
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
