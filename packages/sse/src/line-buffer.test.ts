import { describe, expect, it } from 'vitest'
import { LineBuffer } from './decode.ts'

describe('LineBuffer', () => {
  it('returns complete lines and buffers the rest', () => {
    const lines = new LineBuffer()
    expect(lines.take('ab')).toBe('')
    expect(lines.length).toBe(2)
    expect(lines.take('c\nd\ne')).toBe('abc\nd\n')
    expect(lines.length).toBe(1)
    expect(lines.release()).toBe('e')
    expect(lines.length).toBe(0)
  })

  it('reads CRLF, CR and LF as LF, also if CR and LF are in different chunks', () => {
    const lines = new LineBuffer()
    expect(['a\r', '\nb\r', 'c\r', '', '\n', '\nd\r\n', '\n'].map((text) => lines.take(text))).toStrictEqual([
      'a\n',
      'b\n',
      'c\n',
      '',
      '',
      '\nd\n',
      '\n',
    ])
  })

  it('drops one byte order mark, at the start only', () => {
    const lines = new LineBuffer()
    expect(['', '\uFEFF', '\uFEFFa\n', '\uFEFF\n'].map((text) => lines.take(text)).join('')).toBe('\uFEFFa\n\uFEFF\n')
  })

  it('joins a line from chunks of any length', () => {
    const lines = new LineBuffer()
    const pieces = Array.from({ length: 5000 }, (_, n) => 'abcdefghij'.repeat(20).slice(0, n % 100))
    for (const piece of pieces) expect(lines.take(piece)).toBe('')
    expect(lines.length).toBe(pieces.join('').length)
    expect(lines.take('\n')).toBe(`${pieces.join('')}\n`)
  })
})
