import { describe, expect, it } from 'vitest'
import { fits, promisedBy, stepsOf } from './blocks.ts'

describe('what a document promises', () => {
  it('is the comment behind a line that prints', () => {
    expect(promisedBy("const a = 1 // one\nconsole.log(a) // 1\nconsole.log('b')\n")).toEqual(['1'])
  })

  it('is a list of commands, some of which stay', () => {
    const text = '$ node server.mjs &\nserving\n\n$ node client.mjs\na\nb\n'
    expect(stepsOf({ language: 'console', file: undefined, text, line: 1 })).toEqual([
      { command: 'node server.mjs', stays: true, prints: ['serving'] },
      { command: 'node client.mjs', stays: false, prints: ['a', 'b'] },
    ])
  })

  it('fits what was printed to the letter, but for what is left open', () => {
    expect(fits('a\nb\n', ['a', 'b'])).toBe(true)
    expect(fits('a\nb\nc\n', ['a', 'b'])).toBe(false)
    expect(fits('a\nx\ny\nc\n', ['a', '...', 'c'])).toBe(true)
    expect(fits('took 12 ms\n', ['took … ms'])).toBe(true)
    expect(fits('took 12 s\n', ['took … ms'])).toBe(false)
  })
})
