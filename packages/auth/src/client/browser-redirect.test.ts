import { afterEach, expect, it, vi } from 'vitest'
import { finishPopup, pageRedirect, popupRedirect } from './browser-redirect.ts'
import { oauth } from './oauth.ts'
import { manualRedirect } from './redirect.ts'
import { memoryStore } from './store.ts'
import { caught, World } from './world.fixture.ts'

const redirectUri = 'https://app.example/callback'
const authorizeUrl = new URL('https://as.example/authorize?state=s1')

afterEach(() => vi.unstubAllGlobals())

/** A browser that shows one page, and opens windows as it is told. */
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

it('hears from the window where the user came back to, and of no other attempt', async () => {
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

it('says so when no window opens, when the user takes too long, and when nobody waits any more', async () => {
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

it('notices a window that the user closes, but not one that only says so because it has cut itself off', async () => {
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

it('leaves the page, and goes on where it was left when it is opened again', async () => {
  const world = new World()
  const store = memoryStore()
  const { left } = browser('https://app.example/')
  const leaving = new AbortController()
  const fetch = oauth({ redirect: pageRedirect({ redirectUri }), store })(world.fetch)
  const lost = caught(() => fetch(world.mcp, { signal: leaving.signal }))
  await vi.waitFor(() => expect(left.length).toBe(1))
  // The page is gone, and with it all that waited.
  leaving.abort(new Error('the page is gone'))
  await lost

  const back = await world.agree(new URL(left[0] ?? ''))
  const { location, left: leftAgain } = browser(back)
  const again = oauth({ redirect: pageRedirect({ redirectUri }), store })(world.fetch)
  expect((await again(world.mcp)).status).toBe(200)
  expect([location.href, leftAgain, world.logins]).toEqual([redirectUri, [], 1])
  // What was kept for the way back is of no use any more.
  expect(await store.get(`pending|${new URL(back).searchParams.get('state')}`)).toBeUndefined()
})

it('begins a login of its own when the page is opened with the answer to a question that it never asked', async () => {
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

it('needs a browser', async () => {
  expect(await caught(visit)).toMatchObject({ hint: expect.stringMatching(/loopbackRedirect/) })
})

it('takes what a user pastes: the URL, or its query', async () => {
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
