import { afterEach, expect, it, vi } from 'vitest'
import { oauth } from './oauth.ts'
import { finishPopup, manualRedirect, pageRedirect, popupRedirect } from './redirects.ts'
import { memoryStore } from './store.ts'
import { caught, World } from './world.fixture.ts'

const redirectUri = 'https://app.example/callback'
const authorizeUrl = new URL('https://as.example/authorize?state=s1')

afterEach(() => vi.unstubAllGlobals())

/** A browser that shows one page. */
function browser(href: string, open: (url: string) => { closed: boolean; close(): void } | null = () => null) {
  const left: string[] = []
  const location = { href, assign: (url: string) => void left.push(url) }
  const history = {
    replaceState: (_state: unknown, _unused: string, url: string) => {
      location.href = url
    },
  }
  vi.stubGlobal('location', location)
  vi.stubGlobal('history', history)
  vi.stubGlobal('open', open)
  vi.stubGlobal('close', () => {})
  return { location, left }
}

const visit = (options: { timeout?: number } = {}, signal = new AbortController().signal) =>
  popupRedirect({ redirectUri, ...options })(authorizeUrl, { signal })

it('resolves to the URL of the popup page with the right state', async () => {
  const popup = { closed: false, close: vi.fn() }
  browser('https://app.example/', () => popup)
  const back = visit()
  for (const href of ['not a URL', `${redirectUri}?code=x&state=other`, `${redirectUri}?code=x&state=s1`]) {
    browser(href, () => popup)
    finishPopup()
  }
  expect(await back).toBe(`${redirectUri}?code=x&state=s1`)
  expect(popup.close).toHaveBeenCalledOnce()
})

it('reports a blocked window and a timeout, and rejects with the reason of its signal', async () => {
  browser('https://app.example/')
  expect(await caught(visit)).toMatchObject({
    step: 'authorization',
    message: expect.stringMatching(/did not open a window/),
  })
  browser('https://app.example/', () => ({ closed: false, close() {} }))
  expect(await caught(() => visit({ timeout: 20 }))).toMatchObject({
    message: expect.stringMatching(/did not come back in time/),
  })
  const leaving = new AbortController()
  const left = caught(() => visit({}, leaving.signal))
  leaving.abort(new Error('left'))
  expect(await left).toMatchObject({ message: 'left' })
})

it('reports a window that the user closes, but not one that has cut itself off from its opener', async () => {
  vi.useFakeTimers()
  try {
    const popup = { closed: true, close() {} }
    browser('https://app.example/', () => popup)
    const severed = visit({ timeout: 60_000 })
    await vi.advanceTimersByTimeAsync(30_000)
    browser(`${redirectUri}?code=x&state=s1`, () => popup)
    finishPopup()
    vi.useRealTimers()
    expect(await severed).toMatch(/code=x/)
    vi.useFakeTimers()
    popup.closed = false
    const closed = caught(() => visit({ timeout: 60_000 }))
    await vi.advanceTimersByTimeAsync(10_000)
    popup.closed = true
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await closed).toMatchObject({ message: expect.stringMatching(/The window was closed/) })
  } finally {
    vi.useRealTimers()
  }
})

it('leaves the page, and continues the login when the user comes back', async () => {
  const world = new World()
  const store = memoryStore()
  const { left } = browser('https://app.example/')
  const leaving = new AbortController()
  const fetch = oauth({ redirect: pageRedirect({ redirectUri }), store })(world.fetch)
  const lost = caught(() => fetch(world.mcp, { signal: leaving.signal }))
  await vi.waitFor(() => expect(left.length).toBe(1))
  // The page is gone.
  leaving.abort(new Error('the page is gone'))
  await lost

  const back = await world.agree(new URL(left[0] ?? ''))
  const { location, left: leftAgain } = browser(back)
  const again = oauth({ redirect: pageRedirect({ redirectUri }), store })(world.fetch)
  expect((await again(world.mcp)).status).toBe(200)
  expect([location.href, leftAgain, world.logins]).toEqual([redirectUri, [], 1])
  // The state of the login was deleted.
  expect(await store.get(`pending|${new URL(back).searchParams.get('state')}`)).toBeUndefined()
})

it('starts a login of its own when the page is opened with an unknown state', async () => {
  const world = new World()
  const { left } = browser(`${redirectUri}?code=stolen&state=forged&iss=https://as.example`)
  const leaving = new AbortController()
  const fetch = oauth({ redirect: pageRedirect({ redirectUri }) })(world.fetch)
  const lost = caught(() => fetch(world.mcp, { signal: leaving.signal }))
  await vi.waitFor(() => expect(left.length).toBe(1))
  leaving.abort(new Error('enough'))
  await lost
  expect(world.to('/token')).toEqual([])
})

it('reports a missing browser window', async () => {
  expect(await caught(visit)).toMatchObject({ hint: expect.stringMatching(/loopbackRedirect/) })
})

it('accepts a pasted URL or its query', async () => {
  for (const paste of [
    (back: string) => ` ${back}\n`,
    (back: string) => new URL(back).search,
    (back: string) => new URL(back).searchParams,
  ]) {
    const world = new World()
    const redirect = manualRedirect(redirectUri, async (url) => paste(await world.agree(url)))
    expect((await oauth({ redirect })(world.fetch)(world.mcp)).status).toBe(200)
  }
})

it('refuses a timeout of a popup window that is not a positive number', () => {
  for (const timeout of [Number.NaN, 0, -1]) {
    const message = `timeout: expected a positive number of ms, got ${timeout}`
    expect(() => popupRedirect({ redirectUri, timeout })).toThrow(new RangeError(message))
  }
})
