import { expect, it } from 'vitest'
import { splitWords } from './words.ts'

it.each([
  ['', [], ''],
  ['  a  b ', ['a', 'b'], ''],
  ['a "b c" d=\'e f\'', ['a', 'b c', 'd=e f'], 'd=e f'],
  ['a=\\"x\\ y', ['a="x y'], 'a="x y'],
  ["'a\\b'", ['a\\b'], 'a\\b'],
  ['a=""', ['a='], 'a='],
  ['""', [''], ''],
])('splits %j', (line, words, unfinished) => {
  expect(splitWords(line)).toEqual({ words, unfinished, isOpen: false })
})

it('notices a quote that is not closed', () => {
  expect(splitWords('say "hello')).toEqual({ words: ['say', 'hello'], unfinished: 'hello', isOpen: true })
})
