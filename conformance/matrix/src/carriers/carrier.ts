/** One way from a client to a server, within this process. */

import type { AuthInfo, Connector, Responder, Revision } from '@mcpx/protocol'

export interface CarrierOptions {
  /** Who is at the client's end, as a carrier's guard would say. */
  readonly auth?: AuthInfo | undefined
  /** What is spoken, to be judged by. Default: nobody judges. */
  readonly revision?: Revision | undefined
  /** Hears what the server's end ignored, dropped or masked. */
  readonly report?: ((problem: Error) => void) | undefined
}

/** The way to a server, as often as its client connects, and what is left of it afterwards. */
export interface Way {
  readonly connector: Connector
  /** Ends from the server's end, without a word, the newest connection; over HTTP every response that is under way. */
  readonly cut: () => Promise<void>
  /** The methods of the requests of HTTP that were made, in order. */
  readonly fetched?: readonly string[]
  /** Ends what the server's end holds. The client was closed before. */
  readonly end?: () => void
}

export type Carry = (server: Responder, options: CarrierOptions) => Way
