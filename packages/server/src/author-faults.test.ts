import { eraOf, REVISIONS } from '@mcpx/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createServer, QuestionError, type ServerOptions, timeout } from './index.ts'
import { type Answers, closeAll, connect } from './peers.fixture.ts'

const unhandled: unknown[] = []
const note = (error: unknown) => void unhandled.push(error)
process.on('unhandledRejection', note)
const turn = () => new Promise((resolve) => setTimeout(resolve, 5))

afterEach(async () => {
  await closeAll()
  await turn()
  expect(unhandled.splice(0)).toEqual([])
})

const form = { type: 'object' as const, properties: {} }
const answers: Answers = { 'elicitation/create': () => ({ action: 'accept', content: {} }) }

/** Notes the faults, and the request that each of them names. */
function build(options: ServerOptions = {}) {
  const faults: { error: unknown; id: string; request: string | undefined }[] = []
  const onError: ServerOptions['onError'] = (error, _ctx, id, request) => void faults.push({ error, id, request })
  return { faults, server: createServer({ name: 's', version: '1' }, { ...options, onError }) }
}

/** Revisions in which users can be asked. */
const asking = REVISIONS.filter((revision) => revision >= '2025-06-18')

describe.each(asking)('an input request that is not awaited, in revision %s', (revision) => {
  const isLegacy = eraOf(revision) === 'legacy'

  it.each([
    ['by itself', undefined],
    ['behind a timeout', timeout(60_000)],
  ])('is sent, and reported with the name of the tool, %s', async (_where, middleware) => {
    const { faults, server } = build()
    if (middleware !== undefined) server.use(middleware)
    server.tool('book', {}, (_args, ctx) => {
      void ctx.elicit('seat', { message: 'Which seat?', schema: form })
      return 'booked'
    })
    const asked: unknown[] = []
    const peer = await connect(server, revision, {
      'elicitation/create': ({ message }) => {
        asked.push(message)
        return { action: 'accept', content: {} }
      },
    })
    expect(await peer.call('tools/call', { name: 'book' })).toMatchObject({ content: [{ text: 'booked' }] })
    await turn()
    expect(asked).toEqual(['Which seat?'])
    // In the modern era the tool runs twice: for the question, and with its answer.
    expect(faults).toHaveLength(isLegacy ? 1 : 2)
    expect(faults[0]?.error).toBeInstanceOf(QuestionError)
    expect(String(faults[0]?.error)).toContain('tools/call "book": the handler did not await ctx.elicit("seat")')
    expect(faults[0]?.request).toBe('tools/call "book"')
  })

  it('does not end the process if the client does not support it or a step fails', async () => {
    const { faults, server } = build()
    server.tool('book', {}, async (_args, ctx) => {
      void ctx.elicit('seat', { message: 'Which seat?', schema: form })
      void ctx.ask({ meal: { method: 'roots/list' } })
      void ctx.step('charge', () => Promise.reject(new Error('declined')))
      await turn()
      return 'booked'
    })
    const peer = await connect(server, revision, {}, {})
    expect(await peer.call('tools/call', { name: 'book' })).toMatchObject({ content: [{ text: 'booked' }] })
    expect(faults.map(({ error }) => String(error).replace(/^.* did not await |; write.*$/g, ''))).toEqual([
      'ctx.elicit("seat")',
      'ctx.ask("meal")',
      'ctx.step("charge")',
    ])
  })

  it('is not reported if the handler awaits it in another way', async () => {
    const { faults, server } = build()
    server
      .tool('all', {}, async (_args, ctx) => {
        const ask = (key: string) => ctx.elicit(key, { message: key, schema: form })
        const [a, b] = await Promise.all([ask('a'), ask('b')])
        return `${a.action} ${b.action}`
      })
      .tool('then', {}, (_args, ctx) => ctx.elicit('a', { message: 'a', schema: form }).then(({ action }) => action))
      .tool('returned', { output: { type: 'object' } }, (_args, ctx) => ctx.elicit('a', { message: 'a', schema: form }))
    const peer = await connect(server, revision, answers)
    for (const name of ['all', 'then', 'returned']) {
      expect(await peer.call('tools/call', { name })).not.toHaveProperty('isError')
    }
    expect(faults).toEqual([])
  })
})

describe.each(asking)('a key that is used twice in one run, in revision %s', (revision) => {
  it('fails with an error and does not repeat forever', async () => {
    const { faults, server } = build()
    let runs = 0
    server.tool('book', {}, async (_args, ctx) => {
      for (;;) {
        runs += 1
        const { action } = await ctx.elicit('seat', { message: 'Which seat?', schema: form })
        if (action === 'decline' || runs > 1_000) return `${runs}`
      }
    })
    const peer = await connect(server, revision, answers)
    expect(await peer.call('tools/call', { name: 'book' })).toMatchObject({ isError: true })
    expect(runs).toBeLessThan(5)
    expect(faults).toHaveLength(1)
    expect(faults[0]?.error).toBeInstanceOf(QuestionError)
    expect(String(faults[0]?.error)).toContain('Question "seat": the key was already used in this run of the handler')
  })

  it('also fails within one round of several input requests', async () => {
    const { faults, server } = build()
    server.tool('book', {}, async (_args, ctx) => {
      const ask = () => ctx.elicit('seat', { message: 'Which seat?', schema: form })
      await Promise.all([ask(), ask()])
    })
    const peer = await connect(server, revision, answers)
    expect(await peer.call('tools/call', { name: 'book' })).toMatchObject({ isError: true })
    expect(faults.map(({ error }) => error)).toEqual([expect.any(QuestionError)])
  })
})

describe.each(REVISIONS)('an unexpected error, in revision %s', (revision) => {
  const fail = (): never => {
    throw new Error('secret')
  }

  it.each([
    ['tools/call', { name: 'search' }, 'tools/call "search"'],
    ['prompts/get', { name: 'review' }, 'prompts/get "review"'],
    ['resources/read', { uri: 'note://7' }, 'resources/read "note://7"'],
    ['resources/list', {}, 'resources/list'],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'review' }, argument: { name: 'code', value: '' } },
      'completion/complete "review"',
    ],
  ])('in %s is reported with the method and the item, and masked for the client', async (method, params, request) => {
    const { faults, server } = build()
    const args = { type: 'object', properties: { code: { type: 'string' } } }
    server
      .tool('search', {}, fail)
      .prompt('review', { args, complete: { code: fail } }, fail)
      .resource('note://{id}', { list: fail }, fail)
    const peer = await connect(server, revision)
    const answer = await peer.call(method, params)
    expect(faults).toEqual([{ error: new Error('secret'), id: expect.stringMatching(/^[0-9a-f]{8}$/), request }])
    const shown = answer.message ?? JSON.stringify(answer)
    expect(shown).toContain(faults[0]?.id)
    expect(shown).not.toContain('secret')
  })

  it('is logged', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const peer = await connect(createServer({ name: 's', version: '1' }).tool('search', {}, fail), revision)
    await peer.call('tools/call', { name: 'search' })
    expect(logged.mock.calls).toEqual([
      [expect.stringMatching(/^@mcpx\/server: error [0-9a-f]{8} in tools\/call "search":$/), new Error('secret')],
    ])
    logged.mockRestore()
  })

  it('may be a result that is nested too deeply', async () => {
    const { faults, server } = build()
    const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) })
    const circle: Record<string, unknown> = {}
    circle.circle = circle
    // The result, and `_meta` in it, are two levels; the message around them is one more.
    server
      .tool('deep', {}, () => ({ content: [], _meta: nested(125) }))
      .tool('deeper', {}, () => ({ content: [], _meta: nested(126) }))
      .tool('circle', {}, () => ({ content: [], _meta: circle }))
    const peer = await connect(server, revision)
    expect(await peer.call('tools/call', { name: 'deep' })).toMatchObject({ content: [] })
    for (const name of ['deeper', 'circle']) {
      expect(await peer.call('tools/call', { name })).toMatchObject({ code: -32603 })
      const { error } = faults.pop() ?? {}
      expect(String(error)).toBe(`ResultError: The result of tools/call "${name}" is nested deeper than 128 levels`)
    }
    expect(faults).toEqual([])
  })
})
