import type { AuthInfo } from '@mcpx/protocol'
import { createServer, inputRequired } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFullServer } from './full-server.ts'
import { closeAll, connectRawClient, turn } from './raw-client.ts'

afterEach(closeAll)

const forms = { elicitation: { form: {} } }
const both = { ...forms, roots: {} }
const accepted = { action: 'accept', content: { name: 'x' } }
const secrets = ['a secret of enough characters']
const as = (subject: string) => ({ auth: { subject, scopes: [] } as unknown as AuthInfo })

/** Requests that need input. */
const requests: readonly (readonly [string, object])[] = [
  ['tools/call', { name: 'ask' }],
  ['prompts/get', { name: 'greet', arguments: { name: '?' } }],
  ['resources/read', { uri: 'ask:me' }],
]

function createAskingServer(options = {}) {
  return createFullServer({ secrets, ...options }).resource('ask:me', {}, async (_, ctx) => {
    const answer = await ctx.elicit('name', { message: 'Name?', schema: z.object({ name: z.string() }) })
    return `You are ${answer.content?.name}`
  })
}

describe('an input_required result', () => {
  it.each(requests)(
    'of %s contains input requests by key, without JSON-RPC members [S-051, S-052]',
    async (method, params) => {
      const client = connectRawClient(createAskingServer())
      const { result } = await client.call(method, params, forms)
      expect(result).toMatchObject({
        resultType: 'input_required',
        inputRequests: {
          name: {
            method: 'elicitation/create',
            params: { mode: 'form', message: 'Name?', requestedSchema: { type: 'object', required: ['name'] } },
          },
        },
      })
      expect(Object.keys((result?.inputRequests as { name: object } | undefined)?.name ?? {})).toEqual([
        'method',
        'params',
      ])
      const done = await client.call(method, { ...params, inputResponses: { name: accepted } }, forms)
      expect(done.result?.resultType).toBe('complete')
    },
  )

  it('always has input requests or state, also if the handler returned neither [S-051, S-061]', async () => {
    const server = createServer({ name: 's', version: '1' })
      .tool('nothing', {}, () => inputRequired({}))
      .tool('state', {}, (_, ctx) => (ctx.requestState === 'mine' ? 'done' : inputRequired({}, 'mine')))
    const client = connectRawClient(server)
    const { result } = await client.call('tools/call', { name: 'nothing' }, forms)
    expect(result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) })
    const first = await client.call('tools/call', { name: 'state' }, forms)
    expect(first.result).not.toHaveProperty('inputRequests')
    const { requestState } = first.result ?? {}
    expect((await client.call('tools/call', { name: 'state', requestState }, forms)).result).toMatchObject({
      content: [{ type: 'text', text: 'done' }],
    })
  })

  it('contains only input requests that the request declared [S-053]', async () => {
    const server = createServer({ name: 's', version: '1' }).tool('all', {}, async (_, ctx) => {
      const form = { message: 'm', requestedSchema: { type: 'object' as const, properties: {} } }
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'x' } }]
      const answers = await ctx.ask({
        form: { method: 'elicitation/create', params: form },
        url: { method: 'elicitation/create', params: { mode: 'url', message: 'm', url: 'https://example.com' } },
        sample: { method: 'sampling/createMessage', params: { messages, maxTokens: 1 } },
        tools: { method: 'sampling/createMessage', params: { messages, maxTokens: 1, tools: [] } },
        roots: { method: 'roots/list' },
      })
      return Object.keys(answers)
    })
    const client = connectRawClient(server)
    const askedWith = async (capabilities: object) => {
      const { result, error } = await client.call('tools/call', { name: 'all' }, capabilities)
      return error?.code ?? Object.keys((result?.inputRequests ?? {}) as object)
    }
    expect(await askedWith({ elicitation: {} })).toEqual(['form'])
    expect(await askedWith({ elicitation: { url: {} } })).toEqual(['url'])
    expect(await askedWith({ sampling: {} })).toEqual(['sample'])
    expect(await askedWith({ sampling: { tools: {} }, roots: {} })).toEqual(['sample', 'tools', 'roots'])
    expect(await askedWith({ extensions: {} })).toBe(-32021)
    expect(await askedWith({})).toBe(-32021)
  })

  it('ends the exchange [S-062]', async () => {
    const server = createServer({ name: 's', version: '1' }).tool('late', {}, async (_, ctx) => {
      try {
        await ctx.roots()
      } finally {
        setTimeout(() => void ctx.progress(1), 1)
      }
      return ''
    })
    const client = connectRawClient(server)
    await client.call('tools/call', { name: 'late' }, both)
    await turn(10)
    expect(client.received).toHaveLength(1)
  })
})

describe('the state of a call', () => {
  async function begin() {
    const server = createAskingServer()
    const first = await connectRawClient(server, as('ann')).call('tools/call', { name: 'twice' }, both)
    const answered = { name: 'twice', inputResponses: { one: accepted }, requestState: first.result?.requestState }
    const { result } = await connectRawClient(server, as('ann')).call('tools/call', answered, both)
    return result?.requestState as string
  }
  const retry = (requestState: unknown, more = {}) => ({
    name: 'twice',
    requestState,
    inputResponses: { two: { roots: [{ uri: 'file:///w' }] } },
    ...more,
  })

  it('is valid for its own call [S-055]', async () => {
    const state = await begin()
    const client = connectRawClient(createAskingServer(), as('ann'))
    expect((await client.call('tools/call', retry(state), both)).result).toMatchObject({
      content: [{ type: 'text', text: 'file:///w' }],
    })
    expect(state).not.toMatch(/[^\w-]/)
  })

  it('is rejected if a single character differs [S-054]', async () => {
    const state = await begin()
    const client = connectRawClient(createAskingServer(), as('ann'))
    const swap = (at: number) => `${state.slice(0, at)}${state[at] === 'A' ? 'B' : 'A'}${state.slice(at + 1)}`
    const forged = [0, 6, 30, state.length - 10].map(swap)
    for (const requestState of [...forged, `${state}-TAMPERED`, state.slice(0, -4), '', 'x', 'x'.repeat(2_000_000)]) {
      expect((await client.call('tools/call', retry(requestState), both)).error?.code).toBe(-32602)
    }
    for (const requestState of [null, 5, {}]) {
      expect((await client.call('tools/call', retry(requestState), both)).error?.code).toBe(-32602)
    }
  })

  it('is rejected for another caller, tool, argument or method, and after its expiry [S-055]', async () => {
    const state = await begin()
    const server = createAskingServer()
    const ann = connectRawClient(server, as('ann'))
    const refused = [
      await connectRawClient(server, as('bob')).call('tools/call', retry(state), both),
      await connectRawClient(server).call('tools/call', retry(state), both),
      await ann.call('tools/call', retry(state, { name: 'ask' }), both),
      await ann.call('tools/call', retry(state, { arguments: { a: 1 } }), both),
      await ann.call('prompts/get', retry(state), both),
    ]
    expect(refused.map(({ error }) => error?.code)).toEqual([-32602, -32602, -32602, -32602, -32602])
    const quick = createAskingServer({ stateTtl: 1 })
    const first = await connectRawClient(quick).call(
      'tools/call',
      { name: 'twice', inputResponses: { one: accepted } },
      both,
    )
    await turn(5)
    const late = retry(first.result?.requestState)
    expect((await connectRawClient(quick).call('tools/call', late, both)).error?.code).toBe(-32602)
  })

  it('is stored by the client only [S-057]', async () => {
    let entered = 0
    const server = createServer({ name: 's', version: '1' }, { secrets }).tool('t', {}, async (_, ctx) => {
      entered += 1
      await ctx.step('s', () => 1)
      await ctx.roots()
      return 'done'
    })
    const client = connectRawClient(server)
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, () => client.call('tools/call', { name: 't' }, both)),
    )
    expect(entered).toBe(1_000)
    const fresh = createServer({ name: 's', version: '1' }, { secrets }).tool('t', {}, async (_, ctx) => {
      const step = await ctx.step('s', () => 2)
      return `${step} ${(await ctx.roots()).length}`
    })
    const { requestState } = answers[500]?.result ?? {}
    const params = { name: 't', requestState, inputResponses: { roots: { roots: [] } } }
    expect((await connectRawClient(fresh).call('tools/call', params, both)).result?.content).toEqual([
      { type: 'text', text: '1 0' },
    ])
  })

  it('contains the answers of earlier rounds [S-058]', async () => {
    const server = createServer({ name: 's', version: '1' }).tool('three', {}, async (_, ctx) => {
      const found: string[] = []
      for (const key of ['a', 'b', 'c']) found.push(`${key}${(await ctx.roots(key)).length}`)
      return found.join(' ')
    })
    const client = connectRawClient(server)
    const rounds: string[][] = []
    let params: object = {}
    for (let round = 0; round < 4; round++) {
      const { result } = await client.call('tools/call', { name: 'three', ...params }, both)
      if (result?.resultType !== 'input_required') {
        expect(result?.content).toEqual([{ type: 'text', text: 'a0 b1 c2' }])
        break
      }
      const keys = Object.keys(result?.inputRequests as object)
      rounds.push(keys)
      const roots = Array.from({ length: round }, () => ({ uri: 'file:///' }))
      const inputResponses = Object.fromEntries(keys.map((key) => [key, { roots }]))
      params = { inputResponses, ...(result?.requestState !== undefined && { requestState: result.requestState }) }
    }
    expect(rounds).toEqual([['a'], ['b'], ['c']])
  })
})

describe('input responses', () => {
  const answer = (inputResponses: unknown) =>
    connectRawClient(createAskingServer()).call('tools/call', { name: 'ask', inputResponses }, forms)

  const missing: object[] = [{}, { other: accepted }, { constructor: accepted }, { name: { roots: [] } }]
  it.each(missing)('that are missing are requested again: %j [S-059]', async (responses) => {
    const { result } = await answer(responses)
    expect(Object.keys((result?.inputRequests ?? {}) as object)).toEqual(['name'])
  })

  it('that were not requested are ignored [S-059]', async () => {
    expect((await answer({ name: accepted, other: accepted })).result).toMatchObject({ resultType: 'complete' })
  })

  const malformed: unknown[] = [null, 5, 'x', [], { name: null }, { name: 5 }, { name: { action: 'maybe' } }]
  it.each(malformed.map((responses) => [responses]))(
    'that are malformed are rejected: %j [S-059, S-060]',
    async (responses) => {
      expect((await answer(responses)).error?.code).toBe(-32602)
    },
  )
})
