import { expect, it } from 'vitest'
import { plainJson, plainLine, plainText } from './plain-text.ts'

it('replaces everything that a terminal would execute', () => {
  expect(plainText('a\u001b]0;title\u0007b\u009b2Jc\u007f\u0000')).toBe('a\\x1b]0;title\\x07b\\x9b2Jc\\x7f\\x00')
  expect(plainText('pass\rword')).toBe('pass\\x0dword')
  expect(plainText('\u202egnp.exe')).toBe('\\u202egnp.exe')
})

it('keeps line breaks, tabs and other characters', () => {
  expect(plainText('Grüße, 世界 👋\n\ttab\r\nend')).toBe('Grüße, 世界 👋\n\ttab\r\nend')
  expect(plainLine('  one\n two\t three ')).toBe('one two three')
})

it('returns JSON without control characters that parses to the same value', () => {
  const value = { a: '\u001b[2J\u009b2J\u202e\u2028', 'b\u007f': 1 }
  const json = plainJson(value)
  expect(json).toMatch(/^[\n\x20-\x7e]*$/)
  expect(JSON.parse(json)).toEqual(value)
})
