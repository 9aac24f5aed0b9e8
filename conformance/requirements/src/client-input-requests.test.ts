import { type ClientOptions, connect } from '@mcpx/client'
import type { JsonObject } from '@mcpx/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { KEY } from './raw-client.ts'
import { type AnswerHandler, createRawServer } from './raw-server.ts'

afterEach(() => void vi.unstubAllGlobals())

const form = (requestedSchema: object, more: object = { mode: 'form' }) => ({
  method: 'elicitation/create',
  params: { message: 'm', requestedSchema, ...more },
})

/** A server that sends one input request and records the answers. */
function createAsking(question: object) {
  const answers: unknown[] = []
  const call: AnswerHandler = ({ inputResponses }) => {
    if (inputResponses === undefined) return { resultType: 'input_required', inputRequests: { q: question } }
    answers.push((inputResponses as JsonObject).q)
    return { content: [] }
  }
  return { server: createRawServer({ 'tools/call': call }), answers }
}

async function answered(question: object, options: ClientOptions): Promise<unknown> {
  const { server, answers } = createAsking(question)
  await using client = await connect(server, options)
  await client.callTool('t')
  return answers[0]
}

describe('a form', () => {
  it('may have no mode, and is declared by the capability or its mode [C-110]', async () => {
    const modes: string[] = []
    const onElicit: ClientOptions['onElicit'] = (ask) => {
      modes.push(ask.mode)
      return { action: 'decline' }
    }
    await answered(form({ type: 'object', properties: {} }, {}), { onElicit })
    await answered(form({ type: 'object', properties: {} }), { onElicit, elicitationModes: ['form'] })
    expect(modes).toEqual(['form', 'form'])
    const { server } = createAsking(form({ type: 'object', properties: {} }))
    await using _ = await connect(server, { onElicit, elicitationModes: ['form'] })
    const declared = (server.requests[0]?.params?._meta as JsonObject | undefined)?.[`${KEY}clientCapabilities`]
    expect(declared).toEqual({ elicitation: { form: {} }, extensions: { [`${KEY}tasks`]: {} } })
  })

  it.each([
    [{ type: 'string', enum: ['a', 'b'] }, 'b', 'c'],
    [{ type: 'string', oneOf: [{ const: 'a', title: 'A' }] }, 'a', 'A'],
    [{ type: 'string', enum: ['a'], enumNames: ['A'] }, 'a', 'A'],
    [{ type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1 }, ['a'], []],
    [{ type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] }, maxItems: 1 }, ['a'], ['a', 'a']],
    [{ type: 'integer', minimum: 1 }, 1, 1.5],
    [{ type: 'string', format: 'email' }, 'ada@example.com', 'ada at example'],
    [{ type: 'string', format: 'uri' }, 'https://a.example/b', 'no uri'],
    [{ type: 'string', format: 'date' }, '2026-02-28', '2026-02-30'],
    [{ type: 'string', format: 'date-time' }, '2026-02-28T10:00:00Z', '2026-02-28'],
  ])('supports the field %j, and rejects invalid content [C-113, C-114, C-115]', async (field, good, bad) => {
    const question = form({ type: 'object', properties: { f: field }, required: ['f'] })
    const giving = (f: unknown): ClientOptions => ({
      onElicit: () => ({ action: 'accept', content: { f } as never }),
    })
    expect(await answered(question, giving(good))).toEqual({ action: 'accept', content: { f: good } })
    await expect(answered(question, giving(bad))).rejects.toMatchObject({ name: 'ConnectionError' })
  })

  it.each(['accept', 'decline', 'cancel'] as const)('is answered with the action %s [C-112, C-074]', async (action) => {
    const answer = await answered(form({ type: 'object', properties: {} }), { onElicit: () => ({ action }) })
    expect(answer).toEqual(action === 'accept' ? { action, content: {} } : { action })
  })
})

describe('a URL elicitation', () => {
  const url = 'https://user@xn--e1afmkfd.example/pay?a=1#b'
  const question = { method: 'elicitation/create', params: { mode: 'url', message: 'm', url } }

  it('is not opened by the client: the callback receives the complete URL [C-116]', async () => {
    const reached: unknown[] = []
    vi.stubGlobal('fetch', (...args: unknown[]) => {
      reached.push(args)
      return Promise.reject(new Error('no network'))
    })
    vi.stubGlobal('open', (...args: unknown[]) => void reached.push(args))
    const shown: unknown[] = []
    const answer = await answered(question, {
      onElicit: (ask) => {
        if (ask.mode === 'url') shown.push(ask.url, ask.server?.name)
        return { action: 'accept' }
      },
    })
    expect(shown).toEqual([url, 'raw'])
    expect(answer).toEqual({ action: 'accept' })
    await expect(answered(question, {})).rejects.toMatchObject({ name: 'ConnectionError' })
    expect(reached).toEqual([])
  })

  it('can be declined, and the call continues [C-078]', async () => {
    expect(await answered(question, { onElicit: () => ({ action: 'decline' }) })).toEqual({ action: 'decline' })
  })
})

describe('sampling', () => {
  const params = {
    messages: [{ role: 'user', content: { type: 'text', text: 'x' } }],
    maxTokens: 7,
    systemPrompt: 's',
    temperature: 0.5,
    modelPreferences: { hints: [{ name: 'a' }, { name: 'b' }] },
  }
  const question = { method: 'sampling/createMessage', params }
  const said = { role: 'assistant' as const, content: { type: 'text' as const, text: 'y' }, model: 'm' }

  it('is declared with its capabilities, and the callback receives maxTokens [C-120]', async () => {
    const seen: unknown[] = []
    const onSample: ClientOptions['onSample'] = (requestsOf) => {
      seen.push(requestsOf)
      return said
    }
    for (const [sampling, declared] of [
      [undefined, {}],
      [{ tools: true }, { tools: {} }],
      [
        { tools: true, context: true },
        { tools: {}, context: {} },
      ],
    ] as const) {
      const { server, answers } = createAsking(question)
      await using client = await connect(server, { onSample, ...(sampling && { sampling }) })
      await client.callTool('t')
      expect(answers).toEqual([said])
      const _meta = server.requests[0]?.params?._meta as JsonObject
      const extensions = { [`${KEY}tasks`]: {} }
      expect(_meta[`${KEY}clientCapabilities`]).toEqual({ sampling: declared, extensions })
    }
    expect(seen).toMatchObject([params, params, params])
  })

  it.each(['endTurn', 'stopSequence', 'maxTokens', 'toolUse', 'of their own'])(
    'may have the stop reason %j and each tool choice [C-123]',
    async (stopReason) => {
      for (const mode of ['auto', 'required', 'none']) {
        const requestsOf = { ...question, params: { ...params, tools: [], toolChoice: { mode } } }
        const answer = await answered(requestsOf, {
          onSample: () => ({ ...said, stopReason }),
          sampling: { tools: true },
        })
        expect(answer).toEqual({ ...said, stopReason })
      }
    },
  )
})
