import { describe, expect, it } from 'vitest'
import { formProblem } from './form.ts'
import type { RequestedSchema } from './schemas/client-features.ts'
import { workOf } from './work.fixture.ts'

type Format = 'email' | 'uri' | 'date' | 'date-time'
const form = (format: string): RequestedSchema => ({
  type: 'object',
  properties: { field: { type: 'string', format: format as Format } },
})

const fit: Record<Format, readonly string[]> = {
  email: ['ada@example.com', 'a.b+c@sub.example.org', 'root@localhost', 'ä@exämple.de'],
  uri: ['https://example.com/a?b#c', 'urn:isbn:0451450523', 'mailto:ada@example.com', 'file:///a'],
  date: ['2026-07-28', '2024-02-29', '0001-01-01', '9999-12-31'],
  'date-time': [
    '2026-07-28T10:00:00Z',
    '2026-07-28t10:00:00z',
    '2026-07-28T23:59:60Z',
    '2026-07-28T10:00:00.123456+02:00',
    '2024-02-29T00:00:00-23:59',
  ],
}

const unfit: Record<Format, readonly string[]> = {
  email: ['', 'ada', 'ada@', '@example.com', 'a b@example.com', 'a@b@c', 'a@b..c', 'a@.b', 'a@b.', 'a@example.com\n'],
  uri: ['', 'example.com', '/path', 'https://', 'https://a b', '://x', 'https://example.com\n'],
  date: [
    '',
    '2026-7-28',
    '2026-02-29',
    '2026-13-01',
    '2026-00-01',
    '2026-01-00',
    '28.07.2026',
    '2026-07-28T',
    '2026-07-28\n',
  ],
  'date-time': [
    '',
    '2026-07-28',
    '2026-07-28T10:00:00',
    '2026-07-28 10:00:00Z',
    '2026-07-28T24:00:00Z',
    '2026-07-28T10:60:00Z',
    '2026-02-30T10:00:00Z',
    '2026-07-28T10:00Z',
    '2026-07-28T10:00:00+24:00',
    '2026-07-28T10:00:00.Z',
  ],
}

describe.each(Object.keys(fit) as Format[])('a text of the format %s', (format) => {
  it.each(fit[format])('may be %j [C-115, S-236]', (field) => {
    expect(formProblem(form(format), { field })).toBeUndefined()
  })

  it.each(unfit[format])('is not %j [C-115, S-236]', (field) => {
    expect(formProblem(form(format), { field })).toMatch(/^content\.field: expected an? (email|absolute|date)/)
  })

  it('is checked in linear time', () => {
    const work = workOf(() => {
      for (const text of ['a'.repeat(1e5), `${'a@'.repeat(5e4)}`, `a@${'b.'.repeat(5e4)}`, '9'.repeat(1e5)]) {
        formProblem(form(format), { field: text })
      }
    })
    expect(work).toBeLessThan(500)
  })
})

describe('a text of another format', () => {
  it.each(['phone', 'toString', '__proto__'])('is any string if the format is %s', (format) => {
    expect(formProblem(form(format), { field: 'anything' })).toBeUndefined()
  })

  it('is checked only if it is present and a string', () => {
    expect(formProblem(form('email'), {})).toBeUndefined()
    expect(formProblem(form('email'), { field: 7 })).toBe('content.field: expected string, got number')
  })
})
