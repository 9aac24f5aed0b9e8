/** Checks the address options of a Node server, and creates the errors of failed listening. */

import { ConnectionError } from '@mcpx/protocol'

export interface Address {
  readonly host: string
  readonly port: number
}

/**
 * Returns the host without brackets, and the port as a number.
 *
 * @throws RangeError for an invalid port
 * @throws TypeError for an invalid host. An empty host is invalid, because Node would listen on all addresses.
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
  // Environment variables are strings.
  const port = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given
  if (typeof port === 'number' && Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  const shown = typeof given === 'string' ? JSON.stringify(given) : String(given)
  const hint = Number.isNaN(given) ? '. Pass process.env.PORT unchanged: if it is not set, the default is used' : ''
  throw new RangeError(`port: expected an integer from 0 to 65535, got ${shown}${hint}`)
}

/** Returns the address in the form used in URLs. */
export function authorityOf({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

const NO_NAME = 'No address was found for this name: set host to a name or an address of this machine.'

const hints: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Choose another port, or stop the program that uses this one.',
  EACCES: 'This port needs elevated privileges: choose a port from 1024 up.',
  EADDRNOTAVAIL: 'No network interface has this address: choose an address of this machine, or 0.0.0.0 for all.',
  ENOTFOUND: NO_NAME,
  EAI_AGAIN: NO_NAME,
}

/** @param cause the error of Node */
export function cannotListen(address: Address, cause: Error & { readonly code?: string }): ConnectionError {
  const { code = cause.message } = cause
  const hint = hints[code]
  const message = `Cannot listen on ${authorityOf(address)} (${code})`
  return new ConnectionError('unreachable', message, { ...(hint !== undefined && { hint }), cause })
}
