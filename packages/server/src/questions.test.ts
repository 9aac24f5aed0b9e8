import { type Context, eraOf, type InputRequest, type JsonObject, REVISIONS, type SampleParams } from '@mcpx/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { inputRequired, QuestionError } from './index.ts'
import { type Answered, type Answers, closeAll, connect, oneTool, text } from './peers.fixture.ts'

afterEach(closeAll)

const words = { type: 'text', text: 'x' }
const use = { type: 'tool_use', id: 'u1', name: 't', input: {} }
const outcome = { type: 'tool_result', toolUseId: 'u1', content: [] }

const form = (properties: object, more: object = {}) => ({
  method: 'elicitation/create',
  params: { message: 'm', requestedSchema: { type: 'object', properties, ...more } },
})
const visit = (url: unknown, mode = 'url') => ({ method: 'elicitation/create', params: { mode, message: 'm', url } })
const sample = (messages: object[], more: object = { maxTokens: 9 }) => ({
  method: 'sampling/createMessage',
  params: { messages, ...more },
})
const said = (...content: object[]) => ({ role: 'assistant', content })
const asked = (...content: object[]) => ({ role: 'user', content })

const broken: readonly (readonly [string, unknown, string])[] = [
  [
    'a form that is not flat',
    form({ address: { type: 'object', properties: {} } }),
    'requestedSchema.properties.address',
  ],
  [
    'a list of anything',
    form({ tags: { type: 'array', items: { type: 'string' } } }),
    'requestedSchema.properties.tags',
  ],
  ['a field without a type', form({ any: {} }), 'requestedSchema.properties.any'],
  ['a missing required field', form({}, { required: ['name'] }), 'required[0]: there is no field "name"'],
  [
    'a form without a message',
    { method: 'elicitation/create', params: { requestedSchema: form({}).params } },
    'message',
  ],
  ['an invalid URL', visit('not a url'), 'params.url: "not a url" is not an absolute URL'],
  ['a URL without a scheme', visit('example.com/pay'), 'params.url'],
  ['no URL', visit(undefined), 'params.url'],
  ['an unknown mode', visit('https://example.com', 'voice'), 'params.mode'],
  [
    'a method that is not an input request',
    { method: 'tools/call', params: { name: 'x' } },
    'roots/list, got "tools/call"',
  ],
  ['an inherited member', { method: 'toString' }, 'roots/list, got "toString"'],
  ['null', null, 'expected a request, got null'],
  ['a sample without a limit', sample([], {}), 'params.maxTokens'],
  ['a tool use without its result', sample([said(use)]), 'the last tool uses have no results'],
  ['a tool use that is answered with text', sample([said(use), asked(words)]), 'params.messages[1]'],
  [
    'a tool result beside text',
    sample([said(use), asked(outcome, words)]),
    'tool results are allowed only in user messages',
  ],
  ['a tool result without a tool use', sample([asked(outcome)]), 'params.messages[0]'],
  ['one result for two tool uses', sample([said(use, { ...use, id: 'u2' }), asked(outcome)]), 'params.messages[1]'],
  [
    'a duplicate result for two tool uses',
    sample([said(use, { ...use, id: 'u2' }), asked(outcome, outcome)]),
    'params.messages[1]',
  ],
]

const ways: Record<string, (request: InputRequest, ctx: Context) => unknown> = {
  'in a straight line': async (request, ctx) => text(await ctx.ask({ q: request })),
  'by hand': (request) => inputRequired({ q: request }),
}

describe.each(REVISIONS)('revision %s', (revision) => {
  const isLegacy = eraOf(revision) === 'legacy'

  async function run(way: (ctx: Context) => unknown, answers: Answers = {}, declared?: object) {
    const errors: unknown[] = []
    const onError = (error: unknown) => void errors.push(error)
    const server = oneTool((_args, ctx) => way(ctx), { onError })
    const peer = await connect(server, revision, answers, declared)
    return { errors, answer: await peer.call('tools/call', { name: 't' }) }
  }

  describe.each(Object.keys(ways))('%s', (name) => {
    it.each(broken)('does not send %s, and reports it [S-052, S-063, S-231, S-241]', async (_, bad, problem) => {
      const heard: unknown[] = []
      const record = (params: JsonObject) => heard.push(params)
      const answers = { 'elicitation/create': record, 'sampling/createMessage': record, 'tools/call': record }
      const { errors, answer } = await run((ctx) => ways[name]?.(bad as InputRequest, ctx), answers)
      expect(heard).toEqual([])
      expect(errors).toHaveLength(1)
      expect(errors[0]).toBeInstanceOf(QuestionError)
      expect(String(errors[0])).toContain(problem)
      expect(String(errors[0])).toContain('Question "q"')
      expect(shownIn(answer)).toMatch(/error \(?[0-9a-f]{8}\)/)
      expect(shownIn(answer)).not.toContain('Question')
    })
  })

  it('does not send an invalid URL [S-231]', async () => {
    const { errors } = await run((ctx) => ctx.openUrl('visit', { message: 'm', url: 'not a url' }))
    expect(String(errors[0])).toContain('Question "visit": params.url: "not a url" is not an absolute URL')
  })

  it('uses a key for one kind of input request', async () => {
    const roots = { roots: [] }
    const answers = { 'roots/list': () => roots, 'sampling/createMessage': () => ({ ...said(words), model: 'm' }) }
    const way = async (ctx: Context) => {
      await ctx.roots('it')
      return text(await ctx.sample('it', { messages: [], maxTokens: 1 }))
    }
    const { errors, answer } = await run(way, answers)
    expect(errors[0]).toBeInstanceOf(QuestionError)
    expect(String(errors[0])).toContain('Question "it": the key was first used for roots/list and is now used for')
    expect(shownIn(answer)).toMatch(/error \(?[0-9a-f]{8}\)/)
    const together = await run(
      (ctx) => Promise.all([ctx.roots('it'), ctx.sample('it', { messages: [], maxTokens: 1 })]),
      answers,
    )
    expect(together.errors[0]).toBeInstanceOf(QuestionError)
    const same = await run(async (ctx) => text([await ctx.roots('it'), await ctx.roots('it')]), answers)
    expect(same.errors[0]).toBeInstanceOf(QuestionError)
    expect(String(same.errors[0])).toContain('Question "it": the key was already used in this run of the handler')
    expect(shownIn(same.answer)).toMatch(/error \(?[0-9a-f]{8}\)/)
  })

  it('requests the context of servers only if the client declares it [S-240]', async () => {
    const params: SampleParams = { messages: [], maxTokens: 1, includeContext: 'thisServer' }
    const way = async (ctx: Context) => text((await ctx.sample('s', params)).model)
    const answers = {
      'sampling/createMessage': () => ({ ...said(words), role: 'assistant', content: words, model: 'm' }),
    }
    const has = await run(way, answers, { sampling: { context: {} } })
    expect(has.answer.content).toEqual([{ type: 'text', text: '"m"' }])
    const lacks = await run(way, answers, { sampling: {} })
    // Revisions before it have the context, but nothing that a client could declare.
    if (revision < '2025-11-25') expect(lacks.answer.content).toEqual([{ type: 'text', text: '"m"' }])
    else expect(shownIn(lacks.answer)).toContain('sampling.context')
    if (!isLegacy) {
      const data = { requiredCapabilities: { sampling: { context: {} } } }
      expect(lacks.answer).toMatchObject({ code: -32021, data })
    }
    const none = await run(async (ctx) => text(await ctx.sample('s', { ...params, includeContext: 'none' })), answers, {
      sampling: {},
    })
    expect(none.errors).toEqual([])
  })
})

/** Returns the text that the client received. */
function shownIn({ message, content }: Answered): string {
  return message ?? content.map(({ text: shown }) => shown).join()
}
