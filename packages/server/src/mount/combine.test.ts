import { type Handler, resourceNotFound } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { ctx, failureOf, tool, toolbox, walk } from './combine.fixture.ts'
import type { OwningHandler } from './combine.ts'
import { combine } from './combine.ts'

describe('the methods of a combined handler', () => {
  it('are those of the only part', () => {
    const part = toolbox('a', ['x'])
    expect(combine([part])).toBe(part)
  })

  it('exist only if a part has them', () => {
    const combined = combine([
      toolbox('a', ['x']),
      { listPrompts: () => ({ prompts: [] }), getPrompt: () => ({ messages: [] }) },
    ])
    const there = Object.entries(combined).filter(([, method]) => method !== undefined)
    expect(there.map(([name]) => name).sort()).toEqual(['callTool', 'getPrompt', 'listPrompts', 'listTools'])
    expect(combine([]).callTool).toBeUndefined()
  })

  it('appear if a part adds them later', async () => {
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
  it('are answered by the part that owns them, synchronously if the part does not wait', async () => {
    const combined = combine([toolbox('a', ['x']), toolbox('b', ['y'])])
    expect(await combined.callTool?.({ name: 'y' }, ctx)).toMatchObject({ content: [{ text: 'b:y' }] })
  })

  it('belong to the first part that has them, and the duplicate is omitted from the list', async () => {
    const combined = combine([toolbox('a', ['x', 'y']), toolbox('b', ['y', 'z'])])
    expect(await combined.callTool?.({ name: 'y' }, ctx)).toMatchObject({ content: [{ text: 'a:y' }] })
    const { pages } = await walk(combined)
    expect(pages.flatMap(({ tools }) => tools.map((each) => `${each.description}:${each.name}`))).toEqual([
      'a:x',
      'a:y',
      'b:z',
    ])
  })

  it('go to a catch-all last, at any position', async () => {
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

  it('are tried with several catch-alls until one accepts them', async () => {
    const parts = [toolbox('a', ['x'], { owning: false }), toolbox('b', ['y'], { owning: false })]
    const combined = combine(parts)
    expect(await combined.callTool?.({ name: 'y' }, ctx)).toMatchObject({ content: [{ text: 'b:y' }] })
    const refused = await failureOf(() => combined.callTool?.({ name: 'z' }, ctx))
    expect(refused).toMatchObject({ code: -32602, message: 'Unknown tool: "z" (a)' })
  })

  it('are not tried with another part if the first one failed for another reason', async () => {
    const broken = toolbox('a', ['x'], { owning: false })
    broken.callTool = () => Promise.reject(new Error('the disk is gone'))
    const combined = combine([broken, toolbox('b', ['x'], { owning: false })])
    expect(await failureOf(() => combined.callTool?.({ name: 'x' }, ctx))).toMatchObject({
      message: 'the disk is gone',
    })
  })

  it('without an owner are invalid', async () => {
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

  it('are completed by their owner, or without values if it does not support completion', async () => {
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

  it('subscribe at their owner only, and do nothing if it has no subscriptions', async () => {
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

describe('changes and levels', () => {
  it('exist while a part has them', () => {
    const part: Handler = {}
    const changes = () => () => {}
    const combined = combine([part, {}], changes)
    expect(combined.changes).toBeUndefined()
    part.changes = () => () => {}
    expect(combined.changes).toBe(changes)
    expect(combine([part, {}]).changes).toBeUndefined()
  })

  it('reach every part with log levels', async () => {
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
