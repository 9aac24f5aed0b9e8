/** What a behaviour is tried on: the real client, pinned to one revision, connected to real servers within the process. */

import { type Client, type ClientOptions, connect } from '@mcpx/client'
import { type AuthInfo, ConnectionError, type Era, eraOf, type Responder, type Revision } from '@mcpx/protocol'
import { settled } from '@mcpx/testkit'
import type { CarrierOptions, Way } from './carriers/carrier.ts'
import { type Carrier, carry } from './carriers.ts'

export interface RigOptions extends ClientOptions {
  /** Who is at the client's end, as a carrier's guard would say. */
  readonly auth?: AuthInfo | undefined
  /** Speaks another revision than the one under test: the second hop of a proxy. */
  readonly era?: Revision | undefined
}

export interface Rig {
  readonly revision: Revision
  readonly era: Era
  /** What either side ignored, dropped or masked. What a behaviour leaves here fails it. */
  readonly reports: Error[]
  /** A client of the revision under test. It is closed when the behaviour is over. */
  connect<Server extends Responder>(server: Server, options?: RigOptions): Promise<Client<Server>>
  /** The way to a server, over the carrier under test, for those who connect by themselves. */
  reach(server: Responder, options?: CarrierOptions): Way
}

/** Long enough for anything within a process, short enough to see what does not exist. */
const TIMEOUT = 4_000

/**
 * Runs one behaviour and leaves nothing open.
 *
 * @param patience how long it may take, in ms. Default: as long as the test.
 */
export async function withRig(
  revision: Revision,
  carrier: Carrier,
  run: (rig: Rig) => Promise<void>,
  patience?: number,
): Promise<void> {
  const clients: Client[] = []
  const ends: (() => void)[] = []
  const reports: Error[] = []
  const report = (problem: Error) => void reports.push(problem)
  const rig: Rig = {
    revision,
    era: eraOf(revision),
    reports,
    reach(server, options = {}) {
      const way = carry(carrier)(server, options)
      if (way.end !== undefined) ends.push(way.end)
      return way
    },
    async connect<Server extends Responder>(server: Server, { auth, ...options }: RigOptions = {}) {
      const { connector } = rig.reach(server, { auth, revision: options.era ?? revision, report })
      const client = await connect<Server>(connector, {
        era: revision,
        timeout: TIMEOUT,
        onReport: report,
        ...options,
      })
      clients.push(client as Client)
      return client
    },
  }
  let said = 0
  try {
    await within(patience, run(rig))
    said = reports.length
  } finally {
    for (const client of clients.reverse()) await client.close()
    for (const end of ends) end()
  }
  await settled()
  // What was on its way when the client closed cannot arrive.
  for (const [index, report] of reports.entries()) if (index < said || !isClosed(report)) throw report
}

async function within(ms: number | undefined, run: Promise<void>): Promise<void> {
  if (ms === undefined) return run
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`It did not end within ${ms} ms`)), ms)
  })
  await Promise.race([run, late]).finally(() => clearTimeout(timer))
}

function isClosed(report: Error): boolean {
  return report instanceof ConnectionError && report.reason === 'closed'
}
