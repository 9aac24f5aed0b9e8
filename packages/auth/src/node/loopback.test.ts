import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { oauth } from '../client/oauth.ts'
import { caught, json, World } from '../client/world.fixture.ts'
import { type LoopbackRedirectOptions, loopbackRedirect } from './loopback.ts'

type Uri = (options: { signal: AbortSignal; registered: readonly string[] }) => Promise<string>

async function begin(options: LoopbackRedirectOptions = {}, registered: readonly string[] = []) {
  const over = new AbortController()
  const redirect = loopbackRedirect(options)
  const uri = await (redirect.redirectUri as Uri)({ signal: over.signal, registered })
  const url = new URL('https://as.example/authorize?state=s1')
  url.searchParams.set('redirect_uri', uri)
  return { over, uri, visit: () => redirect(url, { signal: over.signal }) }
}

/** A browser that requests the changed callback a little later. */
const browse = (change: (back: URL) => void, seen: Response[] = []) => ({
  open: (url: URL) => {
    const back = new URL(url.searchParams.get('redirect_uri') ?? '')
    back.searchParams.set('state', url.searchParams.get('state') ?? '')
    change(back)
    setTimeout(async () => seen.push(await fetch(back)), 5)
    return true
  },
})

it('listens on 127.0.0.1 only, responds to the user, and closes the port [C-156]', async () => {
  const seen: Response[] = []
  const { over, uri, visit } = await begin(browse((back) => back.searchParams.set('code', 'c1'), seen))
  expect(uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
  expect(String(await visit())).toBe(`${uri}?state=s1&code=c1`)
  over.abort()
  await new Promise((resolve) => setTimeout(resolve, 20))
  const [page] = seen
  expect(await page?.text()).toMatch(/You are logged in/)
  expect(page?.headers.get('content-security-policy')).toBe("default-src 'none'")
  expect(page?.headers.get('cache-control')).toBe('no-store')
  expect(await caught(() => fetch(uri))).toMatchObject({ cause: { code: 'ECONNREFUSED' } })
})

it('refuses requests with another path, method, host or state, and keeps waiting', async () => {
  const { over, uri, visit } = await begin({ open: () => true })
  const back = visit()
  const statuses = []
  for (const [path, init] of [
    ['/favicon.ico', {}],
    ['/callback?state=s1&code=c', { method: 'POST' }],
    ['/callback?state=other&code=c', {}],
    ['/callback?code=c', {}],
    ['//evil.example/callback?state=s1&code=c', {}],
  ] as const) {
    statuses.push((await fetch(uri.replace('/callback', '') + path, init)).status)
  }
  expect(statuses).toEqual([404, 405, 400, 400, 404])
  const { port } = new URL(uri)
  expect((await fetch(`http://localhost:${port}/callback?state=s1&code=c`).catch(() => ({ status: 421 }))).status).toBe(
    421,
  )
  await fetch(`${uri}?state=s1&error=access_denied`)
  expect(String(await back)).toMatch(/error=access_denied/)
  over.abort()
})

it('shows the URL if no browser was opened', async () => {
  const fail = () => {
    throw new Error('no browser')
  }
  for (const open of [() => false, async () => fail(), fail]) {
    const shown: string[] = []
    const show = (url: URL) => void shown.push(url.host)
    const { over, uri, visit } = await begin({ open, show })
    const back = visit()
    await new Promise((resolve) => setTimeout(resolve, 5))
    await fetch(`${uri}?state=s1&code=c`)
    await back
    expect(shown).toEqual(['as.example'])
    over.abort()
  }
})

it.each([2 ** 31, 1e12, Number.POSITIVE_INFINITY])('waits for the user with a timeout of %s ms', async (timeout) => {
  const { over, uri, visit } = await begin({
    ...browse((back) => back.searchParams.set('code', 'c1')),
    timeout,
  })
  expect(String(await visit())).toBe(`${uri}?state=s1&code=c1`)
  over.abort()
})

it('fails after the timeout, and rejects with the reason of its signal', async () => {
  const late = await begin({ open: () => true, timeout: 20 })
  expect(await caught(late.visit)).toMatchObject({
    step: 'authorization',
    message: expect.stringMatching(/did not come back within 20 ms/),
  })
  late.over.abort()
  const left = await begin({ open: () => true })
  setTimeout(() => left.over.abort(new Error('left')), 5)
  expect(await caught(left.visit)).toMatchObject({ message: 'left' })
  expect(await caught(() => fetch(left.uri))).toMatchObject({ cause: { code: 'ECONNREFUSED' } })
})

it('uses the registered port, or another one if it is in use', async () => {
  const first = await begin()
  first.over.abort()
  const again = await begin({}, [first.uri])
  expect(again.uri).toBe(first.uri)
  const third = await begin({}, [first.uri])
  expect(third.uri).not.toBe(first.uri)
  again.over.abort()
  third.over.abort()
})

it('reports a port that is in use, and invalid options', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as AddressInfo
  expect(await caught(() => begin({ port }))).toMatchObject({
    message: expect.stringMatching(`Port ${port} of 127.0.0.1`),
  })
  taken.close()
  expect(() => loopbackRedirect({ path: 'callback' })).toThrow(/path: expected a path such as \/callback/)
  expect(() => loopbackRedirect({ timeout: 0 })).toThrow(/timeout: expected a positive number/)
})

it('logs in, and closes its port when a step before the browser fails', async () => {
  const world = new World()
  const browser = {
    open: (url: URL) => {
      void world.agree(url).then((back) => fetch(back))
      return true
    },
  }
  const wrapped = oauth({ redirect: loopbackRedirect(browser) })(world.fetch)
  expect((await wrapped(world.mcp)).status).toBe(200)

  let uri = ''
  const strict = new World({
    on: {
      'https://as.example/register': async (request) => {
        uri = ((await request.json()) as { redirect_uris: string[] }).redirect_uris[0] ?? ''
        return json({ error: 'invalid_client_metadata' }, 400)
      },
    },
  })
  await caught(() => oauth({ redirect: loopbackRedirect(browser) })(strict.fetch)(strict.mcp))
  expect(uri).toMatch(/^http:\/\/127/)
  expect(await caught(() => fetch(uri))).toMatchObject({ cause: { code: 'ECONNREFUSED' } })
})
