import { expect, it } from 'vitest'
import { createUrlPolicy } from './url-policy.ts'
import { caught } from './world.fixture.ts'

it.each([
  ['https://a.example/x', 'https://b.example', true],
  ['https://10.0.0.1/x', 'https://b.example', false],
  ['https://10.0.0.1/x', 'https://10.9.9.9', true],
  ['http://10.0.0.1/x', 'https://10.9.9.9', false],
  ['http://127.0.0.1/x', 'https://10.9.9.9', false],
  ['http://127.0.0.1/x', 'http://localhost', true],
  ['https://10.0.0.1/x', 'http://localhost', true],
  ['https://169.254.169.254/x', 'http://localhost', false],
  ['http://trusted.internal:8080/x', 'https://b.example', true],
  ['http://trusted.internal/x', 'https://b.example', false],
])('accepts no URL further inside a network than its source: %s, named by %s: %s', async (url, by, allowed) => {
  const guard = createUrlPolicy({ trustedOrigins: ['http://trusted.internal:8080'] })
  const check = () => guard.check('discovery', 'It', url, new URL(by))
  if (allowed) expect((await check()).href).toBe(url)
  else
    expect(await caught(check)).toMatchObject({ step: 'discovery', hint: expect.stringMatching(/trustedOrigins: \['/) })
})

it.each([
  ['cannot be looked up', () => Promise.reject(new Error('ENOTFOUND'))],
  ['has no address', async () => []],
])('reports a name that %s', async (_, resolve) => {
  const check = createUrlPolicy({ resolve }).check('token', 'It', 'https://a.example', new URL('https://b.example'))
  expect(await caught(() => check)).toMatchObject({
    step: 'token',
    message: expect.stringMatching(/The address of It was not found/),
  })
})
