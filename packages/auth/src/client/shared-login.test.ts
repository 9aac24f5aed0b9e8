import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { AuthError } from '../auth-error.ts'
import { oauth } from './oauth.ts'
import { manualRedirect, type Redirect } from './redirects.ts'
import { caught, ok, World } from './world.fixture.ts'

describe('a login that several calls wait for', () => {
  it('happens once, and stops the clock of each call', async () => {
    const world = new World()
    let held = 0
    const hold = () => {
      held += 1
      return () => {
        held -= 1
      }
    }
    const redirect = manualRedirect('http://127.0.0.1:3000/callback', async (url) => {
      await wait(20)
      expect(held).toBe(10)
      return world.agree(url)
    })
    const fetch = oauth({ redirect })(world.fetch, { url: new URL(world.mcp), hold })
    const { signal } = new AbortController()
    await Promise.all(Array.from({ length: 10 }, () => ok(fetch(world.mcp, { signal }))))
    expect([world.logins, held]).toEqual([1, 0])
  })

  it('ends when the last caller has given up', async () => {
    const world = new World()
    const ended: boolean[] = []
    let begun = false
    const visit: Redirect = manualRedirect('http://127.0.0.1:3000/callback', (_, { signal }) => {
      begun = true
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          ended.push(true)
          reject(signal.reason)
        })
      })
    })
    const fetch = oauth({ redirect: visit })(world.fetch)
    const [one, two] = [new AbortController(), new AbortController()]
    const calls = [one, two].map(({ signal }) => caught(() => fetch(world.mcp, { signal })))
    await vi.waitFor(() => expect(begun).toBe(true))
    one.abort(new Error('one'))
    expect(await calls[0]).toMatchObject({ message: 'one' })
    expect(ended).toEqual([])
    two.abort(new Error('two'))
    expect(await calls[1]).toMatchObject({ message: 'two' })
    await vi.waitFor(() => expect(ended).toEqual([true]))
  })

  it('does not start for a caller that has given up before', async () => {
    const world = new World()
    const leaving = new AbortController()
    world.interfere = () => void leaving.abort(new Error('left'))
    const fetch = oauth({ redirect: world.redirect })(world.fetch)
    expect(await caught(() => fetch(world.mcp, { signal: leaving.signal }))).toMatchObject({ message: 'left' })
    await wait(20)
    expect(world.requests.map(({ url }) => url.pathname)).toEqual(['/mcp'])
  })

  it('starts again for a new caller after the others have given up, even if the redirect ignores its signal', async () => {
    const world = new World()
    let visits = 0
    const redirect = manualRedirect('http://127.0.0.1:3000/callback', (url) => {
      visits += 1
      return visits === 1 ? new Promise<string>(() => {}) : world.agree(url)
    })
    const fetch = oauth({ redirect })(world.fetch)
    const leaving = new AbortController()
    const left = caught(() => fetch(world.mcp, { signal: leaving.signal }))
    await vi.waitFor(() => expect(visits).toBe(1))
    leaving.abort(new Error('left'))
    await ok(fetch(world.mcp))
    expect(await left).toMatchObject({ message: 'left' })
    expect(visits).toBe(2)
  })

  it('is not repeated for a while after the user has denied it, unless the application connects again', async () => {
    const world = new World()
    let asked = 0
    const redirect = manualRedirect('http://127.0.0.1:3000/callback', (url) => {
      asked += 1
      return `http://127.0.0.1:3000/callback?error=access_denied&iss=https://as.example&state=${url.searchParams.get('state')}`
    })
    const auth = oauth({ redirect })
    const target = { url: new URL(world.mcp) }
    const fetch = auth(world.fetch, target)
    for (let call = 0; call < 5; call++) expect(await caught(() => fetch(world.mcp))).toBeInstanceOf(AuthError)
    expect(asked).toBe(1)
    await caught(() => auth(world.fetch, target)(world.mcp))
    expect(asked).toBe(2)
  })
})
