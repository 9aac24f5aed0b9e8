import type { AuthInfo, Exchange, ListToolsResult, Responder } from '@mcpx/protocol'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createServer } from './index.ts'

/** The members that transports call. */
const asResponder = (server: Responder): Responder => server

const info = { name: 'test', version: '1' }
const exchangeOf = (auth?: AuthInfo): Exchange => ({
  signal: new AbortController().signal,
  auth,
  session: undefined,
  requestInfo: undefined,
  notify() {},
})
const nobody = exchangeOf()
const as = (subject: string, ...scopes: string[]) => exchangeOf({ subject, scopes })

const region = { type: 'string', 'x-mcp-header': 'Region' }
const annotated = { type: 'object' as const, properties: { region } }
const deep = { type: 'object' as const, properties: { where: { type: 'object', properties: { region } } } }
const plain = { type: 'object' as const, properties: { region: { type: 'string' } } }
const tool = (name: string, inputSchema: ListToolsResult['tools'][number]['inputSchema']) => ({ name, inputSchema })

/** A server of a handler object that counts how often it is asked for its list. */
function listing(list: (page: { cursor?: string | undefined }, auth: AuthInfo | undefined) => ListToolsResult) {
  const listed = vi.fn(list)
  const errors: unknown[] = []
  const options = { onError: (error: unknown) => void errors.push(error) }
  const server = createServer(info, {
    ...options,
    listTools: async (page, ctx) => listed(page, ctx.auth),
    callTool: () => ({ content: [] }),
  })
  return {
    server,
    listed,
    errors,
    schemaOf: (name: string, by = nobody) => asResponder(server).inputSchemaOf?.(name, by),
  }
}

describe('the schema of a registered tool', () => {
  const server = createServer(info)
    .tool('open', { input: annotated }, () => '')
    .tool('zod', { input: z.object({ a: z.string().meta({ 'x-mcp-header': 'A' }) }) }, () => '')
    .tool('admin', { input: annotated, scopes: ['admin'] }, () => '')
    .tool('adas', { input: annotated, visible: (auth) => auth?.subject === 'ada' }, () => '')

  it('is returned synchronously as the same object each time', () => {
    expect(asResponder(server).inputSchemaOf?.('open', nobody)).toEqual(annotated)
    expect(asResponder(server).inputSchemaOf?.('open', nobody)).toBe(
      asResponder(server).inputSchemaOf?.('open', as('ada')),
    )
    expect(asResponder(server).inputSchemaOf?.('zod', nobody)).toMatchObject({
      properties: { a: { 'x-mcp-header': 'A' } },
    })
  })

  it('is available only to callers with the tool in their list', () => {
    expect(asResponder(server).inputSchemaOf?.('nope', nobody)).toBeUndefined()
    expect(asResponder(server).inputSchemaOf?.('__proto__', nobody)).toBeUndefined()
    expect(asResponder(server).inputSchemaOf?.('admin', nobody)).toBeUndefined()
    expect(asResponder(server).inputSchemaOf?.('admin', as('bob', 'admin'))).toEqual(annotated)
    expect(asResponder(server).inputSchemaOf?.('adas', as('bob'))).toBeUndefined()
    expect(asResponder(server).inputSchemaOf?.('adas', as('ada'))).toEqual(annotated)
  })

  it('belongs to the tool that a call reaches, also with other parts', async () => {
    const whole = createServer(info, {
      listTools: () => ({ tools: [tool('open', plain), tool('other', annotated)] }),
      callTool: () => ({ content: [] }),
    })
      .tool('open', { input: annotated }, () => '')
      .mount('inner', server)
    expect(asResponder(whole).inputSchemaOf?.('open', nobody)).toEqual(annotated)
    expect(await asResponder(whole).inputSchemaOf?.('other', nobody)).toEqual(annotated)
    expect(await asResponder(whole).inputSchemaOf?.('inner.open', nobody)).toEqual(annotated)
    expect(await asResponder(whole).inputSchemaOf?.('inner.adas', nobody)).toBeUndefined()
    expect(await asResponder(whole).inputSchemaOf?.('inner.adas', as('ada'))).toEqual(annotated)
  })

  it('is undefined if the server has no tools', () => {
    expect(asResponder(createServer(info)).inputSchemaOf?.('open', nobody)).toBeUndefined()
  })

  it('is undefined if `visible` throws, which is reported', () => {
    const errors: unknown[] = []
    const visible = () => {
      throw new Error('no idea')
    }
    const server = createServer(info, { onError: (error) => errors.push(error) }).tool('t', { visible }, () => '')
    expect(asResponder(server).inputSchemaOf?.('t', nobody)).toBeUndefined()
    expect(errors).toMatchObject([{ message: 'no idea' }])
  })
})

describe('the schema of a tool that a handler lists', () => {
  it('is searched in all pages, once for many calls', async () => {
    const { schemaOf, listed } = listing(({ cursor }) =>
      cursor === undefined
        ? { tools: [tool('a', plain), tool('b', annotated)], nextCursor: '' }
        : { tools: [tool('c', deep), tool('b', plain)] },
    )
    expect(await Promise.all([schemaOf('c'), schemaOf('b'), schemaOf('nope')])).toEqual([deep, annotated, undefined])
    expect(listed).toHaveBeenCalledTimes(2)
    expect(schemaOf('c')).toEqual(deep)
    expect(listed).toHaveBeenCalledTimes(2)
  })

  it('is not cached for a tool without header annotations', async () => {
    const { schemaOf, listed } = listing(() => ({ tools: [tool('a', plain)] }))
    expect(await schemaOf('a')).toBeUndefined()
    expect(schemaOf('a')).toBeUndefined()
    expect(listed).toHaveBeenCalledTimes(1)
  })

  it('is searched again after ten seconds, or after the ttl of the list', async () => {
    vi.useFakeTimers()
    try {
      for (const [ttlMs, kept] of [
        [undefined, 10_000],
        [0, 10_000],
        [60_000, 60_000],
      ] as const) {
        let tools = [tool('a', annotated)]
        const { schemaOf } = listing(() => (ttlMs === undefined ? { tools } : { tools, ttlMs }))
        expect(await schemaOf('a')).toEqual(annotated)
        tools = [tool('a', deep)]
        vi.advanceTimersByTime(kept - 1)
        expect(await schemaOf('a')).toEqual(annotated)
        vi.advanceTimersByTime(1)
        expect(await schemaOf('a')).toEqual(deep)
      }
    } finally {
      vi.useRealTimers()
    }
  })

  it('is searched for each caller separately, unless the list is public', async () => {
    const list = (scope: 'public' | 'private') =>
      listing((_page, auth) => ({
        tools: auth?.subject === 'ada' || scope === 'public' ? [tool('a', annotated)] : [],
        cacheScope: scope,
      }))
    const personal = list('private')
    expect(await personal.schemaOf('a', as('ada'))).toEqual(annotated)
    expect(await personal.schemaOf('a', as('bob'))).toBeUndefined()
    expect(await personal.schemaOf('a')).toBeUndefined()
    expect(await personal.schemaOf('a', as('ada', 'more'))).toEqual(annotated)
    expect(personal.listed).toHaveBeenCalledTimes(4)
    const open = list('public')
    for (const by of [as('ada'), as('bob'), nobody]) expect(await open.schemaOf('a', by)).toEqual(annotated)
    expect(open.listed).toHaveBeenCalledTimes(1)
  })

  it('is evicted for the oldest caller first', async () => {
    const { schemaOf, listed } = listing(() => ({ tools: [tool('a', annotated)] }))
    for (let caller = 0; caller <= 1_000; caller++) await schemaOf('a', as(`${caller}`))
    expect(listed).toHaveBeenCalledTimes(1_001)
    await schemaOf('a', as('1000'))
    expect(listed).toHaveBeenCalledTimes(1_001)
    await schemaOf('a', as('0'))
    expect(listed).toHaveBeenCalledTimes(1_002)
  })

  it('is undefined while the list fails, which is reported and retried', async () => {
    let isBroken = true
    const { schemaOf, errors } = listing(() => {
      if (isBroken) throw new Error('no list today')
      return { tools: [tool('a', annotated)] }
    })
    expect(await schemaOf('a')).toBeUndefined()
    expect(errors).toMatchObject([{ message: 'no list today' }])
    isBroken = false
    expect(await schemaOf('a')).toEqual(annotated)
  })

  it('is not searched in endless lists', async () => {
    const { schemaOf, listed, errors } = listing(() => ({ tools: [tool('a', annotated)], nextCursor: 'more' }))
    expect(await schemaOf('b')).toBeUndefined()
    expect(listed.mock.calls.length).toBeLessThanOrEqual(1_000)
    expect(errors).toMatchObject([{ message: expect.stringContaining('pages') }])
  })

  it('is read once from a public list', async () => {
    const inner = createServer(info, { cache: { tools: { ttlMs: 1_000 } } }).tool('a', { input: annotated }, () => '')
    const page = { tools: [tool('a', annotated)] }
    const { schemaOf } = listing(() => page)
    expect(await schemaOf('a', as('ada'))).toBe(await schemaOf('a', as('bob')))
    const outer = createServer(info).mount('in', inner)
    expect(await asResponder(outer).inputSchemaOf?.('in.a', as('ada'))).toBe(
      await asResponder(outer).inputSchemaOf?.('in.a', as('bob')),
    )
  })
})
