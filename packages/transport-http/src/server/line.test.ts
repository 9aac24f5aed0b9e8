import { describe, expect, it } from 'vitest'
import { Line, type Neighbour } from './line.ts'

interface Named extends Neighbour {
  readonly name: string
}

function lineOf(...names: string[]) {
  const items = names.map((name): Named => ({ name }))
  const line = new Line<Named>()
  for (const item of items) line.add(item)
  return { line, items, names: () => Array.from(line, ({ name }) => name) }
}

describe('a line', () => {
  it('holds its items in the order in which they came, each once', () => {
    const { line, items, names } = lineOf('a', 'b', 'c')
    line.add(items[1] as Named)
    expect([names(), line.size, line.oldest?.name]).toEqual([['a', 'b', 'c'], 3, 'a'])
  })

  it.each([
    ['the oldest', 0, ['b', 'c']],
    ['one between', 1, ['a', 'c']],
    ['the newest', 2, ['a', 'b']],
  ])('loses %s, and no other', (_, place, left) => {
    const { line, items, names } = lineOf('a', 'b', 'c')
    line.delete(items[place] as Named)
    line.delete(items[place] as Named)
    expect([names(), line.size]).toEqual([left, 2])
    line.add(items[place] as Named)
    expect(names()).toEqual([...left, items[place]?.name])
  })

  it('leaves alone what it does not hold, also when it is empty', () => {
    const { line, names } = lineOf()
    line.delete({ name: 'x' })
    expect([names(), line.size, line.oldest]).toEqual([[], 0, undefined])
  })

  it('of one is empty once that has left', () => {
    const { line, items, names } = lineOf('a')
    line.delete(items[0] as Named)
    expect([names(), line.size]).toEqual([[], 0])
  })

  it('is held by nothing that has left', () => {
    const { line, items } = lineOf('a', 'b', 'c')
    for (const item of items) line.delete(item)
    expect(items).toEqual([{ name: 'a' }, { name: 'b' }, { name: 'c' }])
  })

  it('may be left by its items while they are gone through', () => {
    const { line, names } = lineOf('a', 'b', 'c')
    for (const item of line) line.delete(item)
    expect(names()).toEqual([])
  })
})
