import { setTimeout as wait } from 'node:timers/promises'
import { catchError } from '@mcpx/testing'
import { expect, it } from 'vitest'
import type { AuthTarget } from './options.ts'
import { modern, reach, result, serve } from './peer.fixture.ts'

it('the auth hook wraps fetch once per connection, with the URL of the server', async () => {
  const { url } = await serve((one, response) => result(response, one, {}))
  const targets: AuthTarget[] = []
  const { connection } = await reach(`${url}?a=b`, {
    auth: (fetch, target) => {
      targets.push(target)
      return fetch
    },
  })
  await connection.request('a', modern())
  await connection.request('b', modern())
  expect(targets.map(({ url }) => url.href)).toEqual([`${url}?a=b`])
})

it('the auth hook pauses the timeout of its own request only', async () => {
  const { url } = await serve((one, response) => result(response, one, {}))
  const { connection } = await reach(url, {
    auth:
      (fetch, { hold }) =>
      async (input, init) => {
        const isHeld = String(init?.body).includes('"held"')
        const go = isHeld ? hold(init?.signal as AbortSignal) : () => {}
        await wait(300)
        go()
        return fetch(input, init)
      },
  })
  const late = catchError(() => connection.request('other', modern(), { timeout: 100 }))
  expect(await connection.request('held', modern(), { timeout: 100, maxTimeout: 100 })).toEqual({})
  expect(await late).toMatchObject({ reason: 'timeout' })
})

it('a request rejects with the AuthError of the wrapper, and wraps other errors', async () => {
  const refusal = Object.assign(new Error('discovery: nothing found'), { name: 'AuthError' })
  for (const [thrown, expected] of [
    [refusal, refusal],
    [new Error('broken'), expect.objectContaining({ reason: 'unreachable' })],
  ]) {
    const { connection } = await reach('http://127.0.0.1:9/', { auth: () => () => Promise.reject(thrown) })
    expect(await catchError(() => connection.request('a', modern()))).toEqual(expected)
  }
})
