import { describe, expect, it } from 'vitest'
import { toUnicodePattern } from './formats.ts'

describe('toUnicodePattern', () => {
  it.each([['^a+$'], ['[\\w-]'], ['\\p{L}'], ['\\\\-'], ['a\\.b'], ['']])('returns %s unchanged', (pattern) => {
    expect(toUnicodePattern(pattern)).toBe(pattern)
  })

  it.each([
    ['^\\d{3}\\-\\d{4}$', '555-1234'],
    ['^[a\\-z\\@]+$', 'a-z@'],
    ['\\"quoted\\"', '"quoted"'],
    ['\\\\\\-', '\\-'],
  ])('converts %s for the flag "u" with the same meaning', (pattern, text) => {
    expect(() => new RegExp(pattern, 'u')).toThrow()
    expect(new RegExp(pattern).test(text)).toBe(true)
    expect(new RegExp(toUnicodePattern(pattern) ?? '', 'u').test(text)).toBe(true)
    expect(new RegExp(toUnicodePattern(pattern) ?? '', 'u').test('az5')).toBe(new RegExp(pattern).test('az5'))
  })

  it.each([['('], ['[z-a]'], ['a{2,1}'], ['\\y'], ['(?<a>.)(?<a>.)'], ['*']])('rejects %s', (pattern) => {
    expect(toUnicodePattern(pattern)).toBeUndefined()
  })
})
