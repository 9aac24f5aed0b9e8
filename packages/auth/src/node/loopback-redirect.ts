/** Logs a user in by the browser of this machine, which comes back to a port that is only open meanwhile (RFC 8252). */

import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AuthError } from '../auth-error.ts'
import type { Awaitable } from '../client/auth.ts'
import type { Redirect, RedirectUriOptions } from '../client/redirects.ts'
import { openBrowser } from './open-browser.ts'

export interface LoopbackRedirectOptions {
  /** The port that is listened at. Default: the one of before, if it is known and free, or else any. */
  readonly port?: number | undefined
  /** Default: `/callback`. */
  readonly path?: string | undefined
  /** How long the user may take, in ms. Over: `AuthError`. Default: 300,000. */
  readonly timeout?: number | undefined
  /** Opens the browser; false, or a throw, says that it could not. Default: what the system opens URLs with. */
  readonly open?: ((url: URL) => Awaitable<boolean>) | undefined
  /** Shows the URL to a user for whom no browser was opened. Default: writes it to stderr. */
  readonly show?: ((url: URL) => Awaitable<void>) | undefined
}

/** How long a user may take, in ms. */
const DEFAULT_TIMEOUT = 300_000

/**
 * Opens the user's browser, and hears at 127.0.0.1 where it was sent back to. Where there is no browser, the URL is
 * printed.
 *
 * ```ts
 * const auth = oauth({ redirect: loopbackRedirect(), store: fileStore('tokens.json') })
 * ```
 */
export function loopbackRedirect(options: LoopbackRedirectOptions = {}): Redirect {
  const { path = '/callback', timeout = DEFAULT_TIMEOUT, open = openBrowser, show = print } = options
  if (!/^\/[\w./-]*$/.test(path)) throw new TypeError(`path: expected one like /callback, got ${path}`)
  if (!(timeout > 0)) throw new RangeError(`timeout: expected a positive number of ms, got ${timeout}`)
  /** The server of the attempt that is under way, by the address that it was given out with. */
  const listening = new Map<string, Server>()

  async function redirectUri({ signal, registered }: RedirectUriOptions): Promise<string> {
    const server = await listen(portsToTry(options.port, registered, path))
    const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
    listening.set(uri, server)
    const close = () => {
      listening.delete(uri)
      server.close()
      server.closeAllConnections()
    }
    signal.addEventListener('abort', close, { once: true })
    if (signal.aborted) close()
    return uri
  }

  async function redirect(url: URL, { signal }: { readonly signal: AbortSignal }): Promise<URL> {
    const uri = url.searchParams.get('redirect_uri') ?? ''
    const server = listening.get(uri)
    if (server === undefined) throw new AuthError('Nobody listens any more', { step: 'authorization', url: uri })
    const back = callbackOf(server, uri, url.searchParams.get('state'), { signal, timeout })
    // It may come back, or fail, while the browser is still being opened.
    back.catch(() => {})
    const opened = await Promise.resolve(open(url)).catch(() => false)
    if (!opened) await show(url)
    return back
  }

  return Object.assign(redirect, { redirectUri })
}

/** A client that is registered with one port had better use it again; one that may not choose has no choice. */
function portsToTry(port: number | undefined, registered: readonly string[], path: string): number[] {
  if (port !== undefined) return [port]
  const before = registered.filter((uri) => URL.canParse(uri)).map((uri) => new URL(uri))
  const own = before.filter(({ hostname, pathname }) => hostname === '127.0.0.1' && pathname === path)
  return [...own.map(({ port }) => Number(port)), 0]
}

async function listen(ports: readonly number[]): Promise<Server> {
  // An import reads every member of a module of Node; one of `node:http` is a whole client, which takes long to load.
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
  const hint = 'Pass another port, or none.'
  throw new AuthError(`Port ${ports[0]} of 127.0.0.1 cannot be listened at`, { step: 'authorization', hint, cause })
}

interface Wait {
  readonly signal: AbortSignal
  readonly timeout: number
}

/** Resolves to the URL of the callback that belongs to this attempt. Others are turned away. */
function callbackOf(server: Server, uri: string, state: string | null, { signal, timeout }: Wait): Promise<URL> {
  return new Promise((resolve, reject) => {
    const late = () => {
      const hint = 'Try again, or pass a longer timeout to loopbackRedirect().'
      finish(() =>
        reject(new AuthError(`The user did not come back within ${timeout} ms`, { step: 'authorization', hint })),
      )
    }
    const timer = setTimeout(late, timeout)
    const stop = () => finish(() => reject(signal.reason))
    const finish = (settle: () => void) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      server.off('request', hear)
      settle()
    }
    const hear = (request: IncomingMessage, response: ServerResponse) => {
      const callback = readCallback(request, uri, state)
      if (typeof callback === 'number') return answer(response, callback, 'This is not what is waited for here.')
      const ok = callback.searchParams.has('code')
      answer(response, 200, ok ? 'You are logged in. You can close this page.' : 'The login did not succeed.')
      response.once('close', () => finish(() => resolve(callback)))
    }
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) return stop()
    server.on('request', hear)
  })
}

/** The callback, or the status to turn a request away with: anybody on this machine can knock here, and any web page. */
function readCallback({ method, url = '', headers }: IncomingMessage, uri: string, state: string | null): URL | number {
  const expected = new URL(uri)
  if (headers.host !== expected.host) return 421
  const callback = URL.canParse(url, uri) ? new URL(url, uri) : undefined
  if (callback?.origin !== expected.origin || callback.pathname !== expected.pathname) return 404
  if (method !== 'GET') return 405
  return callback.searchParams.get('state') === state ? callback : 400
}

function answer(response: ServerResponse, status: number, text: string): void {
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

/** stdout may be the pipe of a server. */
function print(url: URL): void {
  process.stderr.write(`Open this URL to log in:\n${url.href}\n`)
}
