/** Logs a user in from a web page: in a window beside it, or by leaving it and coming back. */

import { failure } from './failure.ts'
import type { Callback, Redirect } from './redirect.ts'

/** The part of a browser that is used. */
interface Browser {
  readonly location: { readonly href: string; assign(url: string): void }
  readonly history: { replaceState(state: unknown, unused: string, url: string): void }
  open(url: string, target: string, features: string): { readonly closed: boolean; close(): void } | null
  close(): void
}

export interface PopupRedirectOptions {
  /** Where the user comes back to: a page of this origin that calls `finishPopup()`. */
  readonly redirectUri: string
  /** How long the user may take, in ms. Over: `AuthError`. Default: 300,000. */
  readonly timeout?: number | undefined
  /** The size and place of the window, as `window.open` takes them. Default: `popup,width=500,height=700`. */
  readonly features?: string | undefined
}

/** Pages of one origin talk to each other by this name. */
const CHANNEL = 'mcpx-auth'

/** How often is looked whether the user has closed the window, in ms. */
const LOOK = 500

/**
 * A window that says so soon that it is closed, in ms, need not be: pages may cut themselves off from who opened them.
 * Then nothing more is known of it.
 */
const SHORTEST_VISIT = 3_000

/**
 * Opens a window for the login. Browsers only open one in answer to a click: connect in the handler of one.
 *
 * ```ts
 * const auth = oauth({ redirect: popupRedirect({ redirectUri: 'https://app.example/callback' }), store: localStorageStore() })
 * ```
 */
export function popupRedirect({ redirectUri, timeout = 300_000, features }: PopupRedirectOptions): Redirect {
  async function redirect(url: URL, { signal }: { readonly signal: AbortSignal }): Promise<Callback> {
    const state = url.searchParams.get('state')
    const popup = browser().open(url.href, '_blank', features ?? 'popup,width=500,height=700')
    if (popup === null) {
      const hint = 'Connect in the handler of a click, or use pageRedirect().'
      throw failure('authorization', 'The browser did not open a window', { hint })
    }
    try {
      return await callbackOf(popup, state, AbortSignal.any([signal, AbortSignal.timeout(timeout)]))
    } finally {
      popup.close()
    }
  }
  return Object.assign(redirect, { redirectUri })
}

/** Resolves to the URL that the other page was opened at, if it answers this attempt. */
function callbackOf(popup: { readonly closed: boolean }, state: string | null, signal: AbortSignal): Promise<string> {
  const channel = new BroadcastChannel(CHANNEL)
  let timer: ReturnType<typeof setInterval> | undefined
  let stop: () => void = () => {}
  const result = new Promise<string>((resolve, reject) => {
    const fail = (why: string) => reject(failure('authorization', why, { hint: 'Log in again.' }))
    stop = () => (isTimeout(signal) ? fail('The user did not come back in time') : reject(signal.reason))
    channel.onmessage = ({ data }: MessageEvent<unknown>) => {
      const isOurs = typeof data === 'string' && URL.canParse(data) && new URL(data).searchParams.get('state') === state
      if (isOurs) resolve(data)
    }
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    const begun = Date.now()
    timer = setInterval(() => {
      if (!popup.closed) return
      if (Date.now() - begun > SHORTEST_VISIT) return fail('The window was closed before the login was over')
      clearInterval(timer)
    }, LOOK)
  })
  return result.finally(() => {
    clearInterval(timer)
    signal.removeEventListener('abort', stop)
    channel.close()
  })
}

function isTimeout(signal: AbortSignal): boolean {
  return (signal.reason as Partial<Error> | undefined)?.name === 'TimeoutError'
}

/** Tells the page that opened this one how the login went, and closes this one. For the page at `redirectUri`. */
export function finishPopup(): void {
  const { location } = browser()
  const channel = new BroadcastChannel(CHANNEL)
  channel.postMessage(location.href)
  channel.close()
  browser().close()
}

/**
 * Leaves the page for the login. The page at `redirectUri` makes the same `oauth()` with the same store, which must
 * outlive a page, and connects: it goes on where the other was left.
 */
export function pageRedirect({ redirectUri }: { readonly redirectUri: string }): Redirect {
  let taken = false
  return Object.assign(
    (url: URL, { signal }: { readonly signal: AbortSignal }): Promise<Callback> => {
      browser().location.assign(url.href)
      // The page ends here; only what goes wrong before is heard of.
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
    },
    {
      redirectUri,
      returned(): Callback | undefined {
        const { location, history } = browser()
        const here = new URL(location.href)
        const back = new URL(redirectUri)
        const isBack = here.origin === back.origin && here.pathname === back.pathname && here.searchParams.has('state')
        if (taken || !isBack) return undefined
        taken = true
        // A code is not for the history of the browser, nor for whoever looks at it.
        history.replaceState(null, '', redirectUri)
        return here
      },
    },
  )
}

function browser(): Browser {
  const found = globalThis as unknown as Partial<Browser>
  if (found.location !== undefined && found.open !== undefined) return found as Browser
  throw failure('authorization', 'There is no browser window here', {
    hint: 'Use loopbackRedirect() of @mcpx/auth/node.',
  })
}
