/** Redirects: send the user to the authorization server, by hand, in a popup window or in the page, and read the callback. */

import { type Awaitable, abortable, LONGEST_TIMER, refuseUnknownOption } from '@mcpx/protocol'
import { AuthError } from '../auth-error.ts'

/** The URL to which the authorization server redirected the browser, or the query of this URL. */
export type Callback = string | URL | URLSearchParams

/** The argument of a `redirectUri` function. */
export interface RedirectUriOptions {
  /** Aborted when the login has ended. */
  readonly signal: AbortSignal
  /**
   * The redirect URIs of the current registration. If the function returns another URI, the client is registered again.
   */
  readonly registered: readonly string[]
}

/**
 * Opens a URL in the browser of the user, and resolves to the callback URL. The signal is aborted when the login has
 * ended. If the promise rejects, the login fails.
 */
export interface Redirect {
  (url: URL, options: { readonly signal: AbortSignal }): Promise<Callback>
  /** The callback URL: an `https:` URL, a URL of this machine, or a URL with a private scheme of the application. */
  readonly redirectUri: string | ((options: RedirectUriOptions) => Awaitable<string>)
  /**
   * For redirects that leave the page. Returns the URL of the page if the authorization server has just opened it, and
   * undefined in later calls. If this function exists, the state of the login is kept in the store during the login.
   */
  readonly readCallback?: (() => Callback | undefined) | undefined
}

/**
 * Creates a redirect from a URL and a function that opens a page and resolves to the callback.
 *
 * ```ts
 * const redirect = manualRedirect('https://app.example/callback', async (url) => {
 *   console.log(`Open ${url.href}`)
 *   return readline.question('Paste the address that you were sent to: ')
 * })
 * ```
 */
export function manualRedirect(
  redirectUri: string,
  visit: (url: URL, options: { readonly signal: AbortSignal }) => Awaitable<Callback>,
): Redirect {
  const redirect = async (url: URL, options: { readonly signal: AbortSignal }) => visit(url, options)
  return Object.assign(redirect, { redirectUri })
}

// In a browser

/** The globals of a browser that this module uses. */
interface Browser {
  readonly location: { readonly href: string; assign(url: string): void }
  readonly history: { replaceState(state: unknown, unused: string, url: string): void }
  open(url: string, target: string, features: string): { readonly closed: boolean; close(): void } | null
  close(): void
}

/** Options of `popupRedirect`. */
export interface PopupRedirectOptions {
  /** A page of this origin that calls `finishPopup()`. */
  readonly redirectUri: string
  /** How long the login may take, in ms; then it fails with `AuthError`. Default: 300,000. */
  readonly timeout?: number | undefined
  /** The features of `window.open`. Default: `popup,width=500,height=700`. */
  readonly features?: string | undefined
}

/** The name of the channel between pages of one origin. */
const CHANNEL = 'mcpx-auth'

/** How often the window is checked, in ms. */
const CHECK_INTERVAL = 500

/**
 * The shortest time after which a closed window ends the login, in ms. A window that seems closed sooner may still be
 * open, because its page can isolate itself from its opener (COOP). It is not checked again.
 */
const SHORTEST_VISIT = 3_000

/**
 * Opens a window for the login. Browsers open windows only in response to a click, so connect in the handler of a click.
 *
 * ```ts
 * const auth = oauth({ redirect: popupRedirect({ redirectUri: 'https://app.example/callback' }), store: localStorageStore() })
 * ```
 */
export function popupRedirect(options: PopupRedirectOptions): Redirect {
  refuseUnknownOption('popupRedirect', options, ['redirectUri', 'timeout', 'features'])
  const { redirectUri, timeout = 300_000, features } = options
  if (!(timeout > 0)) throw new RangeError(`timeout: expected a positive number of ms, got ${timeout}`)
  async function redirect(url: URL, { signal }: { readonly signal: AbortSignal }): Promise<Callback> {
    const state = url.searchParams.get('state')
    const popup = currentBrowser().open(url.href, '_blank', features ?? 'popup,width=500,height=700')
    if (popup === null) {
      const hint = 'Connect in the handler of a click, or use pageRedirect().'
      throw new AuthError('The browser did not open a window', { step: 'authorization', hint })
    }
    const late = AbortSignal.timeout(Math.min(timeout, LONGEST_TIMER))
    try {
      return await callbackOf(popup, state, AbortSignal.any([signal, late]))
    } catch (error) {
      throw error === late.reason ? visitError('The user did not come back in time') : error
    } finally {
      popup.close()
    }
  }
  return Object.assign(redirect, { redirectUri })
}

/** Resolves to the URL of the callback page, if it has the state of this login. */
async function callbackOf(popup: { readonly closed: boolean }, state: string | null, signal: AbortSignal) {
  const channel = new BroadcastChannel(CHANNEL)
  let timer: ReturnType<typeof setInterval> | undefined
  const callback = new Promise<string>((resolve, reject) => {
    channel.onmessage = ({ data }: MessageEvent<unknown>) => {
      const isOurs = typeof data === 'string' && URL.canParse(data) && new URL(data).searchParams.get('state') === state
      if (isOurs) resolve(data)
    }
    const start = Date.now()
    timer = setInterval(() => {
      if (!popup.closed) return
      if (Date.now() - start > SHORTEST_VISIT) reject(visitError('The window was closed before the login ended'))
      else clearInterval(timer)
    }, CHECK_INTERVAL)
  })
  try {
    return await abortable(callback, signal)
  } finally {
    clearInterval(timer)
    channel.close()
  }
}

function visitError(message: string): AuthError {
  return new AuthError(message, { step: 'authorization', hint: 'Log in again.' })
}

/**
 * Sends the URL of this page to the page that opened it, and closes this page. Call it on the page at `redirectUri`.
 */
export function finishPopup(): void {
  const browser = currentBrowser()
  const channel = new BroadcastChannel(CHANNEL)
  channel.postMessage(browser.location.href)
  channel.close()
  browser.close()
}

/**
 * Navigates to the login page, and finishes the login on the page at `redirectUri`. That page must create the same
 * `oauth()` with the same store and connect. The store must keep its records when the page is left, like
 * `localStorageStore()`.
 */
export function pageRedirect({ redirectUri }: { readonly redirectUri: string }): Redirect {
  let wasReturned = false
  return Object.assign(
    (url: URL, { signal }: { readonly signal: AbortSignal }): Promise<Callback> => {
      currentBrowser().location.assign(url.href)
      // The page ends here, so the promise never resolves.
      return abortable(new Promise(() => {}), signal)
    },
    {
      redirectUri,
      readCallback(): Callback | undefined {
        const { location, history } = currentBrowser()
        const url = new URL(location.href)
        const expected = new URL(redirectUri)
        const isSamePage = url.origin === expected.origin && url.pathname === expected.pathname
        if (wasReturned || !isSamePage || !url.searchParams.has('state')) return undefined
        wasReturned = true
        // The code must not stay in the history of the browser.
        history.replaceState(null, '', redirectUri)
        return url
      },
    },
  )
}

function currentBrowser(): Browser {
  const browser = globalThis as unknown as Partial<Browser>
  if (browser.location !== undefined && browser.open !== undefined) return browser as Browser
  const hint = 'Use loopbackRedirect() of @mcpx/auth/node.'
  throw new AuthError('There is no browser window here', { step: 'authorization', hint })
}
