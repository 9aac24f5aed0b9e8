import { MAX_CURSOR_LENGTH, RpcError } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { cutPage } from './named-items.ts'

const same = (name: string): string => name

/** Walks all pages; `between` may change the list before each further page. */
function walk(names: string[], pageSize: number, between: (names: string[]) => string[] = same as never): string[][] {
  const pages: string[][] = []
  let list = names
  let cursor: string | undefined
  do {
    const page = cutPage(list, same, 'tools', cursor, pageSize)
    pages.push([...page.items])
    cursor = page.nextCursor
    list = between(list)
  } while (cursor !== undefined)
  return pages
}

describe('pages', () => {
  it('contain each item once, in order', () => {
    const names = Array.from({ length: 25 }, (_, index) => `tool ${index} ü`)
    expect(walk(names, 10).map((page) => page.length)).toEqual([10, 10, 5])
    expect(walk(names, 10).flat()).toEqual(names)
    expect(walk(names, 25)).toEqual([names])
    expect(walk([], 5)).toEqual([[]])
    expect(walk(names, 5)).toHaveLength(5)
  })

  it('have short cursors, also after long names', () => {
    const names = Array.from({ length: 3 }, (_, index) => `note://${index}/${'ü'.repeat(8_000)}`)
    expect(walk(names, 1).flat()).toEqual(names)
    expect(cutPage(names, same, 'tools', undefined, 1).nextCursor?.length).toBeLessThan(MAX_CURSOR_LENGTH)
  })

  it('neither lose nor repeat items when the list changes', () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    expect(walk(names, 2, (list) => [`new ${list.length}`, ...list]).flat()).toEqual(names)
    expect(walk(names, 2, (list) => list.filter((name) => name !== 'a')).flat()).toEqual(names)
    expect(walk(names, 2, (list) => [...list, 'f'].slice(0, 6)).flat()).toEqual([...names, 'f'])
  })

  it('continue at the position of the last item if that was removed', () => {
    expect(walk(['a', 'b', 'c', 'd'], 2, (list) => list.filter((name) => name !== 'b')).flat()).toEqual([
      'a',
      'b',
      'c',
      'd',
    ])
  })

  it('reject cursors of other lists [S-210]', () => {
    const { nextCursor = '' } = cutPage(['a', 'b'], same, 'prompts', undefined, 1)
    expect(nextCursor).toMatch(/^[\w-]+$/)
    for (const cursor of [
      nextCursor,
      '',
      'x',
      '!!',
      'dG9vbHM',
      btoa('tools:-1:a'),
      btoa('tools:1e9:a'),
      btoa('\xff\xfe'),
    ]) {
      expect(() => cutPage(['a', 'b'], same, 'tools', cursor, 1), cursor).toThrow(RpcError)
    }
    expect(() => cutPage([], same, 'tools', 'x', 1)).toThrow('Invalid cursor: it does not belong to this list')
  })

  it('are empty after the end', () => {
    expect(cutPage(['a'], same, 'tools', btoa('tools:900:z'), 1)).toEqual({ items: [] })
  })
})
