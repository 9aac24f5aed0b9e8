/** What a behaviour is tried on: the real client, pinned to one revision, connected to real servers within the process. */

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
import type { CarrierOptions, Way } from './carriers/carrier.ts'
import { type Carrier, carry, isOneByOne } from './carriers.ts'

export interface RigOptions extends ClientOptions {
  /** Who is at the client's end, as a carrier's guard would say. */
  readonly auth?: AuthInfo | undefined
  /** Speaks another revision than the one under test: the second hop of a proxy. */
  readonly era?: Revision | undefined
}

export interface Rig {
  readonly revision: Revision
  readonly era: Era
  readonly carrier: Carrier
  /** Whether each request goes its own way, as over HTTP; elsewhere one connection carries them all. */
  readonly oneByOne: boolean
  /** What either side ignored, dropped or masked. What a behaviour leaves here fails it. */
  readonly reports: readonly Error[]
  /** Takes away the reports whose message fits. */
  forgive(known: RegExp): void
  /** What comes in time; rejects, and says what it was, if it does not come. */
  soon<Value>(what: string, coming: PromiseLike<Value>): Promise<Value>
  /** A client of the revision under test. It is closed when the behaviour is over. */
  connect<Server extends Responder>(server: Server, options?: RigOptions): Promise<Client<Server>>
  /** The same over a way that the behaviour has. */
  connectOver(connector: Connector, options?: ClientOptions): Promise<Client>
  /** The way to a server, over the carrier under test, for those who connect by themselves. */
  reach(server: Responder, options?: CarrierOptions): Way
}

/** How long a call, or what comes unasked, may take, in ms: enough for anything within a process, and less than a test may. */
const TIMEOUT = 4_000

/**
 * Runs one behaviour and leaves nothing open.
 *
 * @param patience how long what comes unasked may take, in ms. Default: 4,000.
 */
export async function withRig(
  revision: Revision,
  carrier: Carrier,
  run: (rig: Rig) => Promise<void>,
  patience = TIMEOUT,
): Promise<void> {
  const clients: Client[] = []
  const calls: Promise<unknown>[] = []
  const ends: (() => void)[] = []
  const reports: Error[] = []
  const report = (problem: Error) => void reports.push(problem)
  const rig: Rig = {
    revision,
    era: eraOf(revision),
    carrier,
    oneByOne: isOneByOne(carrier, revision),
    reports,
    forgive(known) {
      const others = reports.splice(0).filter(({ message }) => !known.test(message))
      reports.push(...others)
    },
    soon: (what, coming) => inTime(patience, what, coming),
    reach(server, options = {}) {
      const way = carry(carrier)(server, { revision, report, ...options })
      if (way.end !== undefined) ends.push(way.end)
      return way
    },
    async connect<Server extends Responder>(server: Server, { auth, ...options }: RigOptions = {}) {
      const { connector } = rig.reach(server, { auth, revision: options.era ?? revision })
      return (await rig.connectOver(connector, options)) as Client<Server>
    },
    async connectOver(connector, options = {}) {
      const client = await connect(connector, { era: revision, timeout: TIMEOUT, onWarning: report, ...options })
      clients.push(client)
      return noting(client, calls)
    },
  }
  let said = 0
  try {
    await run(rig)
    said = reports.length
  } catch (error) {
    // What failed leaves behind what it would have waited for.
    for (const call of calls) call.catch(() => {})
    throw error
  } finally {
    for (const client of clients.reverse()) await client.close()
    for (const end of ends) end()
  }
  await settled()
  // What was on its way when the client closed cannot arrive.
  for (const [index, report] of reports.entries()) if (index < said || !isClosed(report)) throw report
}

/** The same client; what its methods promise is noted. */
function noting(client: Client, calls: Promise<unknown>[]): Client {
  return new Proxy(client, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        const given: unknown = member.apply(target, args)
        if (given instanceof Promise) calls.push(given)
        return given
      }
    },
  })
}

async function inTime<Value>(ms: number, what: string, coming: PromiseLike<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`It has not come: ${what}`)), ms)
  })
  return Promise.race([coming, late]).finally(() => clearTimeout(timer))
}

function isClosed(report: Error): boolean {
  return report instanceof ConnectionError && report.reason === 'closed'
}
