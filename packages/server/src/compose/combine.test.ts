import {
  type Change,
  type Context,
  type Handler,
  invalidParams,
  isTextKept,
  keepText,
  type ListToolsResult,
  type PageRequest,
  type RpcError,
  resourceNotFound,
  type Tool,
} from '@mcpx/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { combine } from './combine.ts'
import type { OwningHandler } from './owning-handler.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`FC_SEED=${seed}`)

const ctx = {} as Context
const tool = (name: string, description?: string): Tool => ({
  name,
  inputSchema: { type: 'object' },
  ...(description === undefined ? {} : { description }),
})

interface Paged {
  pageSize?: number
  isAsync?: boolean
  owning?: boolean
  extra?: Partial<ListToolsResult>
}

/** A handler of these tools; each answers with the label and its name. */
function toolbox(label: string, names: string[], { pageSize = 1e9, isAsync, owning = true, extra }: Paged = {}) {
  const known = () => new Set(names)
  const handler: OwningHandler = {
    listTools({ cursor }: PageRequest) {
      const start = cursor === undefined ? 0 : Number(cursor.split('é')[1])
      const end = start + pageSize
      const tools = names.slice(start, end).map((name) => tool(name, label))
      const result = { tools, ...extra, ...(end < names.length ? { nextCursor: `${label}é${end}` } : {}) }
      return isAsync ? Promise.resolve(result) : result
    },
    callTool({ name }) {
      if (!known().has(name)) throw invalidParams(`Unknown tool: "${name}" (${label})`)
      const result = { content: [{ type: 'text' as const, text: `${label}:${name}` }] }
      return isAsync ? Promise.resolve(result) : result
    },
  }
  if (owning) handler.owns = (kind, name) => kind === 'tool' && known().has(name)
  return handler
}

async function walk(handler: Handler) {
  const pages: ListToolsResult[] = []
  let cursor: string | undefined
  do {
    const page = (await handler.listTools?.(cursor === undefined ? {} : { cursor }, ctx)) as ListToolsResult
    pages.push(page)
    cursor = page.nextCursor
  } while (cursor !== undefined && pages.length < 1_000)
  return { pages, names: pages.flatMap((page) => page.tools.map(({ name }) => name)) }
}

const failureOf = async (run: () => unknown): Promise<RpcError> => {
  try {
    await run()
  } catch (error) {
    return error as RpcError
  }
  throw new Error('It did not fail')
}

describe('the methods of a combined handler', () => {
  it('are those of the very part when there is one', () => {
    const part = toolbox('a', ['x'])
    expect(combine([part])).toBe(part)
  })

  it('are there only when some part has them', () => {
    const combined = combine([
      toolbox('a', ['x']),
      { listPrompts: () => ({ prompts: [] }), getPrompt: () => ({ messages: [] }) },
    ])
    const there = Object.entries(combined).filter(([, method]) => method !== undefined)
    expect(there.map(([name]) => name).sort()).toEqual(['callTool', 'getPrompt', 'listPrompts', 'listTools'])
    expect(combine([]).callTool).toBeUndefined()
  })

  it('appear when a part gets them later', async () => {
    const late: Handler = {}
    const combined = combine([late, {}])
    expect(combined.callTool).toBeUndefined()
    Object.assign(late, toolbox('late', ['x']))
    expect(await combined.callTool?.({ name: 'x' }, ctx)).toMatchObject({ content: [{ text: 'late:x' }] })
  })

  it('keep the part as `this`', async () => {
    class Part {
      greeting = 'hi'
      listTools() {
        return { tools: [tool(this.greeting)] }
      }
      callTool() {
        return { content: [{ type: 'text' as const, text: this.greeting }] }
      }
    }
    const combined = combine([new Part(), {}])
    expect(await combined.callTool?.({ name: 'hi' }, ctx)).toMatchObject({ content: [{ text: 'hi' }] })
    expect((await walk(combined)).names).toEqual(['hi'])
  })
})

describe('names', () => {
  it('are answered by the part that owns them, at once where the part does not wait', () => {
    const combined = combine([toolbox('a', ['x']), toolbox('b', ['y'])])
    expect(combined.callTool?.({ name: 'y' }, ctx)).toMatchObject({ content: [{ text: 'b:y' }] })
  })

  it('belong to the first part that has them, and the other is dropped from the list', async () => {
    const combined = combine([toolbox('a', ['x', 'y']), toolbox('b', ['y', 'z'])])
    expect(await combined.callTool?.({ name: 'y' }, ctx)).toMatchObject({ content: [{ text: 'a:y' }] })
    const { pages } = await walk(combined)
    expect(pages.flatMap(({ tools }) => tools.map((each) => `${each.description}:${each.name}`))).toEqual([
      'a:x',
      'a:y',
      'b:z',
    ])
  })

  it('go to a catch-all last, wherever it stands', async () => {
    const combined = combine([toolbox('any', ['x', 'y'], { owning: false }), toolbox('b', ['y'])])
    expect(await combined.callTool?.({ name: 'y' }, ctx)).toMatchObject({ content: [{ text: 'b:y' }] })
    expect(await combined.callTool?.({ name: 'x' }, ctx)).toMatchObject({ content: [{ text: 'any:x' }] })
    const { pages } = await walk(combined)
    expect(pages.flatMap(({ tools }) => tools.map((each) => `${each.description}:${each.name}`))).toEqual([
      'any:x',
      'b:y',
    ])
    expect(combined.owns).toBeUndefined()
  })

  it('are tried on several catch-alls until one does not refuse them', async () => {
    const parts = [toolbox('a', ['x'], { owning: false }), toolbox('b', ['y'], { owning: false })]
    const combined = combine(parts)
    expect(await combined.callTool?.({ name: 'y' }, ctx)).toMatchObject({ content: [{ text: 'b:y' }] })
    const refused = await failureOf(() => combined.callTool?.({ name: 'z' }, ctx))
    expect(refused).toMatchObject({ code: -32602, message: 'Unknown tool: "z" (a)' })
  })

  it('are not tried on another part when the first one failed for another reason', async () => {
    const broken = toolbox('a', ['x'], { owning: false })
    broken.callTool = () => Promise.reject(new Error('the disk is gone'))
    const combined = combine([broken, toolbox('b', ['x'], { owning: false })])
    expect(await failureOf(() => combined.callTool?.({ name: 'x' }, ctx))).toMatchObject({
      message: 'the disk is gone',
    })
  })

  it('of nobody are invalid', async () => {
    const resources: OwningHandler = {
      listResources: () => ({ resources: [] }),
      readResource: ({ uri }) => ({ contents: [{ uri, text: '' }] }),
      subscribe: () => {},
      complete: () => ({ completion: { values: ['no'] } }),
      getPrompt: () => ({ messages: [] }),
      owns: () => false,
    }
    const combined = combine([toolbox('a', ['x']), resources])
    expect(await failureOf(() => combined.callTool?.({ name: 'q"' }, ctx))).toMatchObject({
      code: -32602,
      message: 'Unknown tool: "q\\""',
    })
    expect(await failureOf(() => combined.getPrompt?.({ name: 'q' }, ctx))).toMatchObject({
      code: -32602,
      message: 'Unknown prompt: "q"',
    })
    const missing = { code: -32602, data: { uri: 'a:b' } }
    expect(await failureOf(() => combined.readResource?.({ uri: 'a:b' }, ctx))).toMatchObject(missing)
    expect(await failureOf(() => combined.subscribe?.({ uri: 'a:b' }, ctx))).toMatchObject(missing)
    const ref = { type: 'ref/prompt' as const, name: 'q' }
    const completion = () => combined.complete?.({ ref, argument: { name: 'a', value: '' } }, ctx)
    expect(await failureOf(completion)).toMatchObject({ code: -32602 })
    expect(combined.owns?.('tool', 'x')).toBe(true)
    expect(combined.owns?.('tool', 'y')).toBe(false)
    expect(combined.owns?.('prompt', 'x')).toBe(false)
  })

  it('are completed by their owner, with nothing when it cannot', async () => {
    const prompts = (name: string, values?: string[]): OwningHandler => ({
      listPrompts: () => ({ prompts: [{ name }] }),
      getPrompt: () => ({ messages: [] }),
      owns: (kind, each) => kind === 'prompt' && each === name,
      ...(values && { complete: () => ({ completion: { values } }) }),
    })
    const combined = combine([prompts('a'), prompts('b', ['one'])])
    const complete = (name: string) =>
      combined.complete?.({ ref: { type: 'ref/prompt', name }, argument: { name: 'x', value: '' } }, ctx)
    expect(await complete('a')).toEqual({ completion: { values: [] } })
    expect(await complete('b')).toEqual({ completion: { values: ['one'] } })
  })

  it('subscribe at their owner only, and quietly where it takes no subscriptions', async () => {
    const heard: string[] = []
    const part = (scheme: string, takes: boolean): OwningHandler => ({
      listResources: () => ({ resources: [] }),
      readResource: ({ uri }) => {
        throw resourceNotFound(uri, 'modern')
      },
      owns: (_, uri) => uri.startsWith(`${scheme}:`),
      ...(takes && {
        subscribe: ({ uri }) => void heard.push(`+${uri}`),
        unsubscribe: ({ uri }) => void heard.push(`-${uri}`),
      }),
    })
    const combined = combine([part('a', false), part('b', true)])
    await combined.subscribe?.({ uri: 'a:1' }, ctx)
    await combined.subscribe?.({ uri: 'b:1' }, ctx)
    await combined.unsubscribe?.({ uri: 'b:1' }, ctx)
    expect(heard).toEqual(['+b:1', '-b:1'])
  })
})

describe('lists', () => {
  it('are joined into one page, at once where no part waits', () => {
    const combined = combine([toolbox('a', ['x']), toolbox('b', ['y'])])
    expect(combined.listTools?.({}, ctx)).toEqual({ tools: [tool('x', 'a'), tool('y', 'b')] })
  })

  it('go on in the part where the page ended', async () => {
    const combined = combine([
      toolbox('a', ['a1', 'a2', 'a3'], { pageSize: 2 }),
      toolbox('b', ['b1'], { isAsync: true }),
      toolbox('c', ['c1', 'c2'], { pageSize: 1, isAsync: true }),
    ])
    const { pages } = await walk(combined)
    expect(pages.map(({ tools }) => tools.map(({ name }) => name))).toEqual([['a1', 'a2'], ['a3', 'b1', 'c1'], ['c2']])
    expect(pages.every(({ nextCursor }) => nextCursor === undefined || /^[\w-]+$/.test(nextCursor))).toBe(true)
  })

  it('hold at most 1,000 items a page, but no page of a part is cut', async () => {
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

  it('give every item once, whatever the pages of the parts', async () => {
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

  it('take cursors of their own alone', async () => {
    const combined = combine([toolbox('a', ['x']), toolbox('b', ['y'])])
    for (const cursor of ['', '!', 'MTIz', 'OTk6eA', 'LTE', 'eA', '_w', 'MDA', 'MDr_', 'A'.repeat(100_000)]) {
      expect(await failureOf(() => combined.listTools?.({ cursor }, ctx)), cursor.slice(0, 20)).toMatchObject({
        code: -32602,
        message: expect.stringContaining('Invalid cursor'),
      })
    }
  })

  it('take no cursor that is too long to be read, even if it is one of theirs', async () => {
    const part = toolbox('a', ['x'], { extra: { nextCursor: 'x'.repeat(100_000) } })
    const combined = combine([part, {}])
    const first = (await combined.listTools?.({}, ctx)) as ListToolsResult
    const failure = await failureOf(() => combined.listTools?.({ cursor: first.nextCursor }, ctx))
    expect(failure.message).toContain('Invalid cursor')
  })

  it('let the part refuse its own cursor', async () => {
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

  it.each([true, false])('fail whole when a part fails (async: %s)', async (isAsync) => {
    const broken = toolbox('b', ['y'])
    broken.listTools = () => {
      if (isAsync) return Promise.reject(new Error('no upstream'))
      throw new Error('no upstream')
    }
    const combined = combine([toolbox('a', ['x']), broken])
    expect(await failureOf(() => combined.listTools?.({}, ctx))).toMatchObject({ message: 'no upstream' })
  })

  it('are fresh as long as all parts are, and public only when all parts are and the list is whole', async () => {
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

  it('are the very page of a part that is alone in having one', async () => {
    const page = { tools: [tool('x')] }
    const combined = combine([
      { listTools: () => page, callTool: () => ({ content: [] }) },
      { listPrompts: () => ({ prompts: [] }) },
    ])
    expect(await combined.listTools?.({}, ctx)).toBe(page)
  })

  it('stay the very object while the parts keep theirs', async () => {
    const pages = [keepText({ tools: [tool('x')] }), keepText({ tools: [tool('y')] })]
    const parts: Handler[] = pages.map((_, at) => ({
      listTools: () => pages[at] as ListToolsResult,
      callTool: () => ({ content: [] }),
    }))
    const combined = combine(parts)
    const first = (await combined.listTools?.({}, ctx)) as ListToolsResult
    expect(isTextKept(first)).toBe(true)
    expect(await combined.listTools?.({}, ctx)).toBe(first)
    pages[1] = keepText({ tools: [tool('z')] })
    const second = (await combined.listTools?.({}, ctx)) as ListToolsResult
    expect(second).not.toBe(first)
    expect(second.tools.map(({ name }) => name)).toEqual(['x', 'z'])
    pages[1] = { tools: [tool('z')] }
    const third = (await combined.listTools?.({}, ctx)) as ListToolsResult
    expect(isTextKept(third)).toBe(false)
    expect(await combined.listTools?.({}, ctx)).not.toBe(third)
  })

  it('of kept parts follow when a part takes a name over', async () => {
    const taken = new Set<string>()
    const page = keepText({ tools: [tool('x'), tool('y')] })
    const other = keepText({ tools: [tool('z')] })
    const parts: OwningHandler[] = [
      { listTools: () => other, callTool: () => ({ content: [] }), owns: (_, name) => taken.has(name) },
      { listTools: () => page, callTool: () => ({ content: [] }) },
    ]
    const combined = combine(parts)
    expect((await walk(combined)).names).toEqual(['z', 'x', 'y'])
    taken.add('y')
    expect((await walk(combined)).names).toEqual(['z', 'x'])
  })

  it('drop resources by URI and templates by their text', async () => {
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

describe('changes and levels', () => {
  it('are heard from every part, and no longer after the stop', () => {
    const listeners = [new Set<(change: Change) => void>(), new Set<(change: Change) => void>()]
    const parts = listeners.map((set) => ({
      changes: (listener: (change: Change) => void) => {
        set.add(listener)
        return () => void set.delete(listener)
      },
    }))
    const heard: string[] = []
    const stop = combine(parts).changes?.(({ kind }) => void heard.push(kind))
    for (const set of listeners) for (const listener of set) listener({ kind: 'tools' })
    stop?.()
    expect(heard).toEqual(['tools', 'tools'])
    expect(listeners.map(({ size }) => size)).toEqual([0, 0])
  })

  it('leave nothing behind when a part cannot be heard, and stop all when one stop fails', () => {
    let open = 0
    const fine: Handler = {
      changes() {
        open++
        return () => void open--
      },
    }
    const deaf: Handler = {
      changes: () => {
        throw new Error('deaf')
      },
    }
    expect(() => combine([fine, deaf]).changes?.(() => {})).toThrow('deaf')
    expect(open).toBe(0)
    const stuck: Handler = {
      changes: () => () => {
        throw new Error('stuck')
      },
    }
    const stop = combine([stuck, fine]).changes?.(() => {})
    expect(() => stop?.()).toThrow('stuck')
    expect(open).toBe(0)
    expect(() => stop?.()).not.toThrow()
  })

  it('reach every part that has levels', async () => {
    const heard: string[] = []
    const part: Handler = { setLogLevel: ({ level }) => void heard.push(level) }
    await combine([part, {}, part]).setLogLevel?.({ level: 'error' }, ctx)
    expect(heard).toEqual(['error', 'error'])
    const broken: Handler = {
      setLogLevel: () => {
        throw new Error('no')
      },
    }
    await expect(combine([broken, part]).setLogLevel?.({ level: 'error' }, ctx)).rejects.toThrow('no')
  })
})
