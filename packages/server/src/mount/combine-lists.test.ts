import { type Handler, invalidParams, type ListToolsResult } from '@mcpx/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ctx, failureOf, tool, toolbox, walk } from './combine.fixture.ts'
import type { OwningHandler } from './combine.ts'
import { combine } from './combine.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`FC_SEED=${seed}`)

describe('lists', () => {
  it('are joined into one page, synchronously if no part waits', async () => {
    const combined = combine([toolbox('a', ['x']), toolbox('b', ['y'])])
    expect(await combined.listTools?.({}, ctx)).toEqual({ tools: [tool('x', 'a'), tool('y', 'b')] })
  })

  it('continue in the part where the page ended', async () => {
    const combined = combine([
      toolbox('a', ['a1', 'a2', 'a3'], { pageSize: 2 }),
      toolbox('b', ['b1'], { isAsync: true }),
      toolbox('c', ['c1', 'c2'], { pageSize: 1, isAsync: true }),
    ])
    const { pages } = await walk(combined)
    expect(pages.map(({ tools }) => tools.map(({ name }) => name))).toEqual([['a1', 'a2'], ['a3', 'b1', 'c1'], ['c2']])
    expect(pages.every(({ nextCursor }) => nextCursor === undefined || /^[\w-]+$/.test(nextCursor))).toBe(true)
  })

  it('have at most 1,000 items per page, without splitting pages of a part', async () => {
    const many = (label: string, count: number) =>
      toolbox(
        label,
        Array.from({ length: count }, (_, at) => `${label}${at}`),
      )
    const { pages } = await walk(
      combine([many('a', 600), many('b', 400), many('c', 1), many('d', 1_200), many('e', 1)]),
    )
    expect(pages.map(({ tools }) => tools.length)).toEqual([1_000, 1, 1_200, 1])
  })

  it('return each item once for any page sizes', async () => {
    const part = fc.record({
      names: fc.uniqueArray(fc.constantFrom(...'abcdefghij'), { maxLength: 10 }),
      pageSize: fc.integer({ min: 1, max: 4 }),
      isAsync: fc.boolean(),
    })
    const property = fc.asyncProperty(fc.array(part, { minLength: 2, maxLength: 5 }), async (parts) => {
      const combined = combine(parts.map(({ names, ...paged }, at) => toolbox(`p${at}`, names, paged)))
      const { names } = await walk(combined)
      expect(names).toEqual([...new Set(parts.flatMap((each) => each.names))])
    })
    await fc.assert(property, { seed, numRuns: 100 })
  })

  it('accept only their own cursors', async () => {
    const combined = combine([toolbox('a', ['x']), toolbox('b', ['y'])])
    for (const cursor of ['', '!', 'MTIz', 'OTk6eA', 'LTE', 'eA', '_w', 'MDA', 'MDr_', 'A'.repeat(100_000)]) {
      expect(await failureOf(() => combined.listTools?.({ cursor }, ctx)), cursor.slice(0, 20)).toMatchObject({
        code: -32602,
        message: expect.stringContaining('Invalid cursor'),
      })
    }
  })

  it('reject a cursor that is too long', async () => {
    const part = toolbox('a', ['x'], { extra: { nextCursor: 'x'.repeat(100_000) } })
    const combined = combine([part, {}])
    const first = (await combined.listTools?.({}, ctx)) as ListToolsResult
    const failure = await failureOf(() => combined.listTools?.({ cursor: first.nextCursor }, ctx))
    expect(failure.message).toContain('Invalid cursor')
  })

  it('let a part reject its own cursor', async () => {
    const part: Handler = {
      listTools: ({ cursor }) => {
        if (cursor !== undefined) throw invalidParams('Invalid cursor: gone')
        return { tools: [], nextCursor: 'x' }
      },
      callTool: () => ({ content: [] }),
    }
    const combined = combine([part, {}])
    const first = (await combined.listTools?.({}, ctx)) as ListToolsResult
    expect(await failureOf(() => combined.listTools?.({ cursor: first.nextCursor }, ctx))).toMatchObject({
      message: 'Invalid cursor: gone',
    })
  })

  it.each([true, false])('fail if a part fails (async: %s)', async (isAsync) => {
    const broken = toolbox('b', ['y'])
    broken.listTools = () => {
      if (isAsync) return Promise.reject(new Error('no upstream'))
      throw new Error('no upstream')
    }
    const combined = combine([toolbox('a', ['x']), broken])
    expect(await failureOf(() => combined.listTools?.({}, ctx))).toMatchObject({ message: 'no upstream' })
  })

  it('are fresh as long as all parts are, and public only if all parts are and the list is complete [S-042, S-043]', async () => {
    const a = toolbox('a', ['x'], { extra: { ttlMs: 500, cacheScope: 'public' } })
    const b = (extra: Partial<ListToolsResult>, pageSize?: number) =>
      toolbox('b', ['y', 'z'], pageSize === undefined ? { extra } : { extra, pageSize })
    const hintsOf = async (...parts: Handler[]) =>
      (await walk(combine(parts))).pages.map(({ ttlMs, cacheScope }) => [ttlMs, cacheScope])
    expect(await hintsOf(a, b({ ttlMs: 200, cacheScope: 'public' }))).toEqual([[200, 'public']])
    expect(await hintsOf(a, b({ ttlMs: 900, cacheScope: 'private' }))).toEqual([[500, 'private']])
    expect(await hintsOf(a, b({}))).toEqual([[0, 'private']])
    expect(await hintsOf(a, b({ ttlMs: -5, cacheScope: 'public' }))).toEqual([[0, 'public']])
    expect(await hintsOf(a, b({ cacheScope: 'public', ttlMs: 9 }, 1))).toEqual([
      [9, 'private'],
      [9, 'private'],
    ])
    expect(await hintsOf({}, b({ cacheScope: 'public', ttlMs: 9 }, 1))).toEqual([
      [9, 'public'],
      [9, 'public'],
    ])
    expect(await hintsOf(toolbox('c', ['c']), toolbox('d', ['d']))).toEqual([[undefined, undefined]])
  })

  it('are the page of the only part with a list', async () => {
    const page = { tools: [tool('x')] }
    const combined = combine([
      { listTools: () => page, callTool: () => ({ content: [] }) },
      { listPrompts: () => ({ prompts: [] }) },
    ])
    expect(await combined.listTools?.({}, ctx)).toEqual(page)
  })

  it('follow if a part takes over a name', async () => {
    const taken = new Set<string>()
    const page = { tools: [tool('x'), tool('y')] }
    const other = { tools: [tool('z')] }
    const parts: OwningHandler[] = [
      { listTools: () => other, callTool: () => ({ content: [] }), owns: (_, name) => taken.has(name) },
      { listTools: () => page, callTool: () => ({ content: [] }) },
    ]
    const combined = combine(parts)
    expect((await walk(combined)).names).toEqual(['z', 'x', 'y'])
    taken.add('y')
    expect((await walk(combined)).names).toEqual(['z', 'x'])
  })

  it('omit duplicate resources by URI and templates by their text', async () => {
    const part = (label: string): OwningHandler => ({
      listResources: () => ({ resources: [{ name: label, uri: 'a:1' }] }),
      listResourceTemplates: () => ({ resourceTemplates: [{ name: label, uriTemplate: 'a:{id}' }] }),
      readResource: ({ uri }) => ({ contents: [{ uri, text: label }] }),
    })
    const combined = combine([part('first'), part('second')])
    expect(await combined.listResources?.({}, ctx)).toEqual({ resources: [{ name: 'first', uri: 'a:1' }] })
    const templates = { resourceTemplates: [{ name: 'first', uriTemplate: 'a:{id}' }] }
    expect(await combined.listResourceTemplates?.({}, ctx)).toEqual(templates)
  })
})
