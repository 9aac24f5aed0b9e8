import { describe, expect, it } from 'vitest'
import { expectedOutput, matchesOutput, stepsOf } from './blocks.ts'

describe('the expected output in a document', () => {
  it('is the comment after a console.log call', () => {
    expect(expectedOutput("const a = 1 // one\nconsole.log(a) // 1\nconsole.log('b')\n")).toEqual(['1'])
  })

  it('follows each command, which may run in the background', () => {
    const text = '$ node server.mjs &\nserving\n\n$ node client.mjs\na\nb\n'
    expect(stepsOf({ language: 'console', file: undefined, text, line: 1 })).toEqual([
      { command: 'node server.mjs', inBackground: true, prints: ['serving'] },
      { command: 'node client.mjs', inBackground: false, prints: ['a', 'b'] },
    ])
  })

  it('matches exactly, except for ellipses', () => {
    expect(matchesOutput('a\nb\n', ['a', 'b'])).toBe(true)
    expect(matchesOutput('a\nb\nc\n', ['a', 'b'])).toBe(false)
    expect(matchesOutput('a\nx\ny\nc\n', ['a', '...', 'c'])).toBe(true)
    expect(matchesOutput('took 12 ms\n', ['took … ms'])).toBe(true)
    expect(matchesOutput('took 12 s\n', ['took … ms'])).toBe(false)
  })
})
