/** Where a server of Node's listens: what its options may be, and why it cannot listen there. */

import { ConnectionError } from '@mcpx/protocol'

export interface Address {
  readonly host: string
  readonly port: number
}

/**
 * The host without brackets, and the port as a number.
 *
 * @throws RangeError for a port that is none
 * @throws TypeError for a host that is none. An empty one is, too: Node would listen on every address.
 */
export function readAddress(host: unknown, port: unknown): Address {
  return { host: readHost(host), port: readPort(port) }
}

const NAME = /^[\w.-]+$/
const IPV6 = /^[\da-f]*:[\da-f.]*:[\da-f:.]*(?:%[\w.-]+)?$/i

function readHost(given: unknown): string {
  const bare = typeof given === 'string' ? given.replace(/^\[(.+)\]$/, '$1') : ''
  if (NAME.test(bare) || IPV6.test(bare)) return bare
  const wanted = 'expected an address or a name such as "127.0.0.1", or "0.0.0.0" for all addresses, with no port'
  throw new TypeError(`host: ${wanted}, got ${JSON.stringify(given)}`)
}

function readPort(given: unknown): number {
  // The environment has texts only.
  const port = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given
  if (typeof port === 'number' && Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  const shown = typeof given === 'string' ? JSON.stringify(given) : String(given)
  const hint = Number.isNaN(given) ? '. Pass process.env.PORT as it is: the default holds where it is not set' : ''
  throw new RangeError(`port: expected an integer from 0 to 65535, got ${shown}${hint}`)
}

/** The address as a URL has it. */
export function authorityOf({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

const NO_NAME = 'No address was found for this name: see that host is one of this machine.'

const hints: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Choose another port, or end what listens there.',
  EACCES: 'This port is kept for those with more rights: choose one from 1024 on.',
  EADDRNOTAVAIL: 'No interface of this machine has this address: choose one that has, or 0.0.0.0 for all.',
  ENOTFOUND: NO_NAME,
  EAI_AGAIN: NO_NAME,
}

/** @param cause what Node says of it */
export function cannotListen(address: Address, cause: Error & { readonly code?: string }): ConnectionError {
  const { code = cause.message } = cause
  const hint = hints[code]
  const message = `Cannot listen on ${authorityOf(address)} (${code})`
  return new ConnectionError('unreachable', message, { ...(hint !== undefined && { hint }), cause })
}
