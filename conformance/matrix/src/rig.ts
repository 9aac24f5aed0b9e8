/** What a behaviour is tried on: the real client, pinned to one revision, connected to real servers within the process. */

import { type Client, type ClientOptions, connect } from '@mcpx/client'
import {
  type AuthInfo,
  type Channel,
  ConnectionError,
  type Connector,
  createDuplex,
  type Decoded,
  decode,
  type Era,
  encode,
  eraOf,
  type Message,
  type Responder,
  type Revision,
} from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { settled } from '@mcpx/testkit'
import { judged } from './wire-judge.ts'

/**
 * Whether messages pass as they are, or as the text that another process would get. Text is judged by the official
 * schema.
 */
export type Carrier = 'objects' | 'text'

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
}

/** Long enough for anything within a process, short enough to see what does not exist. */
const TIMEOUT = 4_000

/** Runs one behaviour and leaves nothing open. */
export async function withRig(revision: Revision, carrier: Carrier, run: (rig: Rig) => Promise<void>): Promise<void> {
  const clients: Client[] = []
  const reports: Error[] = []
  const rig: Rig = {
    revision,
    era: eraOf(revision),
    reports,
    async connect<Server extends Responder>(server: Server, { auth, ...options }: RigOptions = {}) {
      const onReport = (problem: Error) => void reports.push(problem)
      const connector = memoryConnector(server, { auth, carrier, revision: options.era ?? revision, report: onReport })
      const client = await connect<Server>(connector, { era: revision, timeout: TIMEOUT, onReport, ...options })
      clients.push(client as Client)
      return client
    },
  }
  let said = 0
  try {
    await run(rig)
    said = reports.length
  } finally {
    for (const client of clients.reverse()) await client.close()
  }
  await settled()
  // What was on its way when the client closed cannot arrive.
  for (const [index, report] of reports.entries()) if (index < said || !isClosed(report)) throw report
}

function isClosed(report: Error): boolean {
  return report instanceof ConnectionError && report.reason === 'closed'
}

interface MemoryOptions {
  readonly auth?: AuthInfo | undefined
  readonly carrier?: Carrier
  /** What is spoken, to be judged by. Default: nobody judges. */
  readonly revision?: Revision
  readonly report?: (problem: Error) => void
}

/** As the client's own way to a server of this process, with the choices that it leaves out. */
export function memoryConnector(server: Responder, options: MemoryOptions): Connector {
  const { auth, carrier = 'objects', revision, report } = options
  return {
    connect({ responder, report: reportHere }) {
      const [here, there] = createChannelPair().map((end) => (carrier === 'text' ? asText(end) : end)) as [
        Channel,
        Channel,
      ]
      createDuplex(there, { responder: server, auth, report })
      const isJudged = carrier === 'text' && revision !== undefined
      return createDuplex(isJudged ? judged(here, revision, reportHere) : here, { responder, report: reportHere })
    },
  }
}

/** Everything is written and read again on its way, as between processes. */
function asText(channel: Channel): Channel {
  return {
    send: (message) => channel.send(reread(message) as Message),
    receive: (receiver) => channel.receive(receiver),
    close: () => channel.close(),
  }
}

function reread(message: Message | Message[]): Decoded {
  return decode(Array.isArray(message) ? `[${message.map((each) => encode(each)).join()}]` : encode(message))
}
