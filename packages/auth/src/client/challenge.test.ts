import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseChallenges, readChallenge, scopesOf } from './challenge.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`FC_SEED=${seed}`)

const read = (header: string) =>
  parseChallenges(header).map(({ scheme, params }) => [scheme, Object.fromEntries(params)])

it.each([
  ['Bearer', [['bearer', {}]]],
  ['Bearer realm="a, b", scope="x y"', [['bearer', { realm: 'a, b', scope: 'x y' }]]],
  ['bEaReR SCOPE = x ,error="e"', [['bearer', { scope: 'x', error: 'e' }]]],
  ['Bearer error_description="say \\"no\\"", a=b', [['bearer', { error_description: 'say "no"', a: 'b' }]]],
  [
    'Basic realm="x", Bearer scope="a", DPoP algs="ES256"',
    [
      ['basic', { realm: 'x' }],
      ['bearer', { scope: 'a' }],
      ['dpop', { algs: 'ES256' }],
    ],
  ],
  [
    'Negotiate abc==, Bearer a=b',
    [
      ['negotiate', {}],
      ['bearer', { a: 'b' }],
    ],
  ],
  [
    'Basic, Bearer a=b',
    [
      ['basic', {}],
      ['bearer', { a: 'b' }],
    ],
  ],
  ['Bearer scope="first", scope="second"', [['bearer', { scope: 'first' }]]],
  ['Bearer scope="never closed', [['bearer', {}]]],
  ['', []],
  [',,,', []],
])('parses %s', (header, expected) => {
  const got = read(header)
  expect(got.slice(0, expected.length)).toEqual(expected)
})

it('parses every header in linear time', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('B', ' ', ',', '=', '"', '\\', 'a', '~'), maxLength: 200 }),
      (text) => {
        expect(Array.isArray(parseChallenges(text))).toBe(true)
      },
    ),
    { seed },
  )
  const begun = performance.now()
  for (const part of ['a=b,', 'a ', '"\\', ', ', 'Bearer x="']) parseChallenges(part.repeat(20_000))
  expect(performance.now() - begun).toBeLessThan(500)
})

it('reads OAuth challenges, and prefers the wanted scheme', () => {
  const headers = { 'www-authenticate': 'Basic scope="no", Bearer scope="a", DPoP scope="b", error="invalid_token"' }
  const response = new Response('', { status: 401, headers })
  expect(readChallenge(response, 'bearer')).toMatchObject({ scope: ['a'], error: 'invalid_token' })
  expect(readChallenge(response, 'dpop')).toMatchObject({ scope: ['b'] })
  expect(readChallenge(new Response(''), 'dpop')).toEqual({ scope: [], error: undefined, resourceMetadata: undefined })
})

it('returns valid scopes without duplicates', () => {
  expect(scopesOf(' a  b a "x" \u0007 c:d/e ')).toEqual(['a', 'b', 'c:d/e'])
  expect(scopesOf(['a', 'b c', 'a'])).toEqual(['a'])
  expect(scopesOf(undefined)).toEqual([])
})
