/** The types of a transport from a client to a server within this process. */

import type { AuthInfo, Connector, Responder, Revision } from '@mcpx/protocol'

export interface TransportOptions {
  /** The authenticated caller, as an HTTP guard would report it. */
  readonly auth?: AuthInfo | undefined
  /** The revision whose schema validates the messages. Default: no validation. */
  readonly revision?: Revision | undefined
  /** Called with the warnings of the server side. */
  readonly onWarning?: ((problem: Error) => void) | undefined
}

/** A transport to a server. Its connector may connect several times. */
export interface MatrixTransport {
  readonly connector: Connector
  /** Cuts the newest connection without a closing message; over HTTP all open responses. */
  readonly cut: () => Promise<void>
  /** The methods of all HTTP requests so far, in order. */
  readonly fetched?: readonly string[]
  /** Closes the server side after the client was closed. */
  readonly close?: () => void
}

export type TransportFactory = (server: Responder, options: TransportOptions) => MatrixTransport
