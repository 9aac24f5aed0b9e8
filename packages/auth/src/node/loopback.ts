/** Logs a user in with the browser of this machine. The authorization server redirects it to a port of 127.0.0.1 (RFC 8252). */

import { spawn } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Awaitable, abortable, LONGEST_TIMER, refuseUnknownOption } from '@mcpx/protocol'
import { AuthError } from '../auth-error.ts'
import type { Redirect, RedirectUriOptions } from '../client/redirects.ts'

/** Options of `loopbackRedirect`. */
export interface LoopbackRedirectOptions {
  /** The port that receives the callback. Default: the port of the previous login if it is free, otherwise a random port. */
  readonly port?: number | undefined
  /** The path that receives the callback. Default: `/callback`. */
  readonly path?: string | undefined
  /** How long the login may take, in ms. After this time, it fails with `AuthError`. Default: 300,000. */
  readonly timeout?: number | undefined
  /** Opens the browser. Returns false or throws if that failed. Default: `openBrowser`. */
  readonly open?: ((url: URL) => Awaitable<boolean>) | undefined
  /** Shows the URL to the user if no browser was opened. Default: writes it to standard error. */
  readonly show?: ((url: URL) => Awaitable<void>) | undefined
}

/**
 * Opens the browser of the user, and receives the callback on 127.0.0.1. If no browser can be opened, writes the URL
 * to standard error.
 *
 * ```ts
 * const auth = oauth({ redirect: loopbackRedirect(), store: fileStore('tokens.json') })
 * ```
 *
 * @throws TypeError or RangeError for invalid options
 */
export function loopbackRedirect(options: LoopbackRedirectOptions = {}): Redirect {
  refuseUnknownOption('loopbackRedirect', options, ['port', 'path', 'timeout', 'open', 'show'])
  const { path = '/callback', timeout = 300_000, open = openBrowser, show = printUrl } = options
  if (!/^\/[\w./-]*$/.test(path)) throw new TypeError(`path: expected a path such as /callback, got ${path}`)
  if (!(timeout > 0)) throw new RangeError(`timeout: expected a positive number of ms, got ${timeout}`)
  /** The servers of current logins, by redirect URI. */
  const servers = new Map<string, Server>()

  async function redirectUri({ signal, registered }: RedirectUriOptions): Promise<string> {
    const server = await listen(portsToTry(options.port, registered, path))
    const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
    servers.set(uri, server)
    const close = () => {
      servers.delete(uri)
      server.close()
      server.closeAllConnections()
    }
    signal.addEventListener('abort', close, { once: true })
    if (signal.aborted) close()
    return uri
  }

  async function redirect(url: URL, { signal }: { readonly signal: AbortSignal }): Promise<URL> {
    const uri = url.searchParams.get('redirect_uri') ?? ''
    const server = servers.get(uri)
    if (server === undefined) throw new AuthError('The login has ended', { step: 'authorization', url: uri })
    const callback = receiveCallback(server, uri, url.searchParams.get('state'), signal, timeout)
    // It may reject before it is awaited.
    callback.catch(() => {})
    const isOpened = await (async () => open(url))().catch(() => false)
    if (!isOpened) await show(url)
    return callback
  }

  return Object.assign(redirect, { redirectUri })
}

/** Returns the ports to try. A client that is registered with a port uses this port again. */
function portsToTry(port: number | undefined, registered: readonly string[], path: string): number[] {
  if (port !== undefined) return [port]
  const urls = registered.filter((uri) => URL.canParse(uri)).map((uri) => new URL(uri))
  const ours = urls.filter(({ hostname, pathname }) => hostname === '127.0.0.1' && pathname === path)
  return [...ours.map((url) => Number(url.port)), 0]
}

async function listen(ports: readonly number[]): Promise<Server> {
  // This is faster than an import, which also loads the client of `node:http`.
  const { createServer } = process.getBuiltinModule?.('node:http') ?? (await import('node:http'))
  let cause: unknown
  for (const port of ports) {
    const server = createServer()
    server.listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
      return server
    } catch (error) {
      cause = error
    }
  }
  const message = `Port ${ports[0]} of 127.0.0.1 cannot be used`
  throw new AuthError(message, { step: 'authorization', hint: 'Pass another port, or none.', cause })
}

/** Resolves to the URL of the callback with the state of this login. Refuses other requests. */
async function receiveCallback(
  server: Server,
  uri: string,
  state: string | null,
  signal: AbortSignal,
  timeout: number,
): Promise<URL> {
  const callback = new Promise<URL>((resolve) => {
    server.on('request', (request, response) => {
      const read = readCallback(request, uri, state)
      if (typeof read === 'number') return respond(response, read, 'This is not the expected request.')
      const hasCode = read.searchParams.has('code')
      respond(response, 200, hasCode ? 'You are logged in. You can close this page.' : 'The login failed.')
      response.once('close', () => resolve(read))
    })
  })
  const late = AbortSignal.timeout(Math.min(timeout, LONGEST_TIMER))
  try {
    return await abortable(callback, AbortSignal.any([signal, late]))
  } catch (error) {
    if (error !== late.reason) throw error
    const hint = 'Try again, or pass a longer timeout to loopbackRedirect().'
    throw new AuthError(`The user did not come back within ${timeout} ms`, { step: 'authorization', hint })
  } finally {
    server.removeAllListeners('request')
  }
}

/**
 * Returns the callback, or the status with which a request is refused: every program on this machine, and every web
 * page, can send requests.
 */
function readCallback({ method, url = '', headers }: IncomingMessage, uri: string, state: string | null): URL | number {
  const expected = new URL(uri)
  if (headers.host !== expected.host) return 421
  const callback = URL.canParse(url, uri) ? new URL(url, uri) : undefined
  if (callback?.origin !== expected.origin || callback.pathname !== expected.pathname) return 404
  if (method !== 'GET') return 405
  return callback.searchParams.get('state') === state ? callback : 400
}

function respond(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  response.end(`<!doctype html><meta charset="utf-8"><title>Login</title><p>${text}</p>\n`)
}

/** Writes the URL to standard error, because standard output may be the transport of an MCP server. */
function printUrl(url: URL): void {
  process.stderr.write(`Open this URL to log in:\n${url.href}\n`)
}

/** How long to wait for an error of the program that opens the browser, in ms. */
const OPEN_TIMEOUT = 2_000

/** Opens a URL in the browser of the user, without a shell. Resolves to false if that failed. */
export function openBrowser(url: URL): Promise<boolean> {
  const command = openCommand(url)
  if (command === undefined) return Promise.resolve(false)
  const [program, ...args] = command
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'ignore', detached: true })
    // Do not wait longer, because some programs run as long as the browser.
    const timer = setTimeout(resolve, OPEN_TIMEOUT, true)
    const end = (isOpened: boolean) => {
      clearTimeout(timer)
      resolve(isOpened)
    }
    child.once('error', () => end(false))
    child.once('exit', (code) => end(code === 0))
    child.unref()
  })
}

function openCommand({ href, protocol }: URL): [string, ...string[]] | undefined {
  if (protocol !== 'https:' && protocol !== 'http:') return undefined
  if (process.platform === 'darwin') return ['open', href]
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', href]
  // Without a display, the program would start a browser in the terminal.
  return process.env.DISPLAY || process.env.WAYLAND_DISPLAY ? ['xdg-open', href] : undefined
}

/**
 * Resolves all addresses of a name, for the option `resolve`, so that names of private addresses are refused. An
 * address that changes between the check and the request is not detected. If this matters, send requests through a
 * proxy that has no access to private networks.
 */
export async function resolveHost(hostname: string): Promise<string[]> {
  const addresses = await lookup(hostname, { all: true })
  return addresses.map(({ address }) => address)
}
