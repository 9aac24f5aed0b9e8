import { eraOf, REVISIONS, RpcError } from '@mcpx/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { createServer, inputRequired, ToolError } from './index.ts'
import { closeAll, connect, oneTool, text } from './peers.fixture.ts'

afterEach(closeAll)

describe.each(REVISIONS)('revision %s', (revision) => {
  const isLegacy = eraOf(revision) === 'legacy'

  it('lists and calls', async () => {
    const peer = await connect(
      oneTool((args) => text(args)),
      revision,
    )
    expect((await peer.call('tools/list')).tools).toMatchObject([{ name: 't' }])
    const result = await peer.call('tools/call', { name: 't', arguments: { a: 1 } })
    expect(result.content).toEqual([{ type: 'text', text: '{"a":1}' }])
    expect(result.resultType).toBe(isLegacy ? undefined : 'complete')
    expect(result._meta).toEqual(
      isLegacy ? undefined : { 'io.modelcontextprotocol/serverInfo': { name: 'test', version: '1' } },
    )
  })

  it('answers -32601 for unsupported methods and for those of the other era [S-032, S-152]', async () => {
    const peer = await connect(
      oneTool(() => text(1)),
      revision,
    )
    const foreign = isLegacy
      ? ['server/discover', 'subscriptions/listen']
      : ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe']
    const never = [
      'prompts/list',
      'resources/list',
      'resources/read',
      'completion/complete',
      'x',
      '__proto__',
      'tasks/list',
    ]
    for (const method of [...foreign, ...never]) {
      const params = {
        name: 'x',
        uri: 'x:1',
        level: 'info',
        ref: { type: 'ref/prompt', name: 'x' },
        argument: { name: 'a', value: '' },
        notifications: {},
      }
      expect([method, (await peer.call(method, params)).code]).toEqual([method, -32601])
    }
  })

  it('names the invalid parameter', async () => {
    const peer = await connect(
      oneTool(() => text(1)),
      revision,
    )
    for (const [params, message] of [
      [{}, 'params.name: expected string, got nothing'],
      [{ name: 5 }, 'params.name: expected string, got number'],
      [{ name: 't', arguments: [] }, 'params.arguments: expected object, got array'],
    ] as const) {
      expect(await peer.call('tools/call', params)).toMatchObject({ code: -32602, message })
    }
    expect(await peer.call('tools/list', { cursor: 5 })).toMatchObject({
      code: -32602,
      message: 'params.cursor: expected string, got number',
    })
  })

  it.each([
    ['nothing', () => undefined],
    ['undefined, later', async () => undefined],
    ['null', () => null],
    ['a string', () => 'text'],
  ])('reports an error if a handler returns %s', async (_, give) => {
    const faults: unknown[] = []
    const options = { onError: (error: unknown) => void faults.push(error) }
    const list = give as never
    const server = createServer(
      { name: 's', version: '1' },
      { ...options, listTools: list, callTool: list, listResources: list, readResource: list },
    )
    const peer = await connect(server, revision)
    for (const [method, params] of [
      ['tools/list', {}],
      ['tools/call', { name: 't' }],
      ['resources/templates/list', {}],
      ['resources/read', { uri: 'a:b' }],
    ] as const) {
      const answer = await peer.call(method, params)
      if (method === 'resources/templates/list') expect(answer).toMatchObject({ resourceTemplates: [] })
      else {
        expect(answer).toMatchObject({
          code: -32603,
          message: expect.stringMatching(/^Internal error \([0-9a-f]{8}\)$/),
        })
        const message = expect.stringContaining(`The handler returned ${give() === null ? 'null' : ''}`)
        expect(faults.splice(0)).toMatchObject([{ name: 'ResultError', message }])
      }
    }
  })

  it('uses toJSON of a result and adds its metadata to that', async () => {
    class Shown {
      readonly content = 'own'
      readonly secret = 1
      toJSON() {
        return text('shown')
      }
    }
    const given = [new Shown(), { secret: 1, toJSON: () => text('shown') }]
    const seal = {
      resultType: 'complete',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'test', version: '1' } },
    }
    const peer = await connect(
      oneTool(({ at }) => given[at as number]),
      revision,
    )
    for (const at of given.keys()) {
      const result = await peer.call('tools/call', { name: 't', arguments: { at } })
      expect(result).toEqual({ ...text('shown'), ...(!isLegacy && seal) })
    }
  })

  it.each([
    ['array', [1]],
    ['string', new Date(0)],
    ['array', { toJSON: () => [] }],
  ])('rejects a result that is not an object, such as %s, and reports it', async (kind, given) => {
    const faults: unknown[] = []
    const peer = await connect(
      oneTool(() => given, { onError: (error) => void faults.push(error) }),
      revision,
    )
    expect(await peer.call('tools/call', { name: 't' })).toMatchObject({ code: -32603 })
    const message = `The handler returned ${kind} as the result of tools/call; expected an object`
    expect(faults).toMatchObject([{ name: 'ResultError', message }])
  })

  it('returns the message of a ToolError, masks other errors and passes them to onError', async () => {
    const faults: unknown[] = []
    const server = oneTool(
      ({ kind }) => {
        if (kind === 'tool') throw new ToolError('no such file')
        if (kind === 'rpc') throw new RpcError(-32602, 'for the peer')
        throw new Error('password 1234')
      },
      { onError: (error, _, id) => void faults.push([error, id]) },
    )
    const peer = await connect(server, revision)
    expect(await peer.call('tools/call', { name: 't', arguments: { kind: 'tool' } })).toMatchObject({
      isError: true,
      content: [{ text: 'no such file' }],
    })
    expect(await peer.call('tools/call', { name: 't', arguments: { kind: 'rpc' } })).toMatchObject({
      code: -32602,
      message: 'for the peer',
    })
    const masked = await peer.call('tools/call', { name: 't' })
    expect(JSON.stringify(masked)).not.toContain('1234')
    expect(masked.isError).toBe(true)
    expect(faults).toHaveLength(1)
    const [error, id] = faults[0] as [Error, string]
    expect(error.message).toBe('password 1234')
    expect(masked.content[0]?.text).toContain(id)
  })

  it('sends progress only if requested, only increasing, and before the response [S-090, S-091]', async () => {
    const server = oneTool(async (_, ctx) => {
      for (const done of [1, 2, 2, 1, 3]) await ctx.progress(done, 3, 'working')
      return text('done')
    })
    const peer = await connect(server, revision)
    await peer.call('tools/call', { name: 't' })
    expect(peer.heard).toEqual([])
    await peer.call('tools/call', { name: 't' }, { progress: true })
    expect(peer.heard.map(({ params }) => params?.progress)).toEqual([1, 2, 3])
    expect(peer.heard[0]?.params?.message).toBe(revision === '2024-11-05' ? undefined : 'working')
  })

  it('aborts the signal of a cancelled call', async () => {
    let fired = false
    const server = oneTool(async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      fired = true
      return text(1)
    })
    const peer = await connect(server, revision)
    const controller = new AbortController()
    const calling = peer.call('tools/call', { name: 't' }, { signal: controller.signal })
    await new Promise((resolve) => setTimeout(resolve, 5))
    controller.abort()
    expect(await calling).toMatchObject({ reason: 'cancelled' })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(fired).toBe(true)
  })

  it('sends each input request once, and runs each step once', async () => {
    let charges = 0
    const server = oneTool(async (_, ctx) => {
      const seat = await ctx.elicit('seat', {
        message: 'Which seat?',
        schema: { type: 'object', properties: { row: { type: 'integer', minimum: 1 } }, required: ['row'] },
      })
      if (seat.action !== 'accept') return text('nothing')
      const charge = await ctx.step('charge', () => ({ id: ++charges }))
      const sure = await ctx.elicit('sure', { message: 'Sure?', schema: { type: 'object', properties: {} } })
      const { content } = await ctx.sample('poem', { messages: [], maxTokens: 5 })
      const roots = await ctx.roots()
      return text([seat.content.row, charge.id, sure.action, (content as { text: string }).text, roots.length])
    })
    let asked = 0
    const peer = await connect(server, revision, {
      'elicitation/create': ({ message }) => {
        asked += 1
        return message === 'Sure?' ? { action: 'decline' } : { action: 'accept', content: { row: 7 } }
      },
      'sampling/createMessage': () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'roses' } }),
      'roots/list': () => ({ roots: [{ uri: 'file:///a' }] }),
    })
    const result = await peer.call('tools/call', { name: 't' })
    if (revision < '2025-06-18') {
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('elicitation') }] })
      return
    }
    expect(result.content[0]?.text).toBe('[7,1,"decline","roses",1]')
    expect(charges).toBe(1)
    expect(asked).toBe(2)
  })

  it('repeats the input request if the form was filled in incorrectly', async () => {
    if (revision < '2025-06-18') return
    const server = oneTool(async (_, ctx) => {
      const form = { type: 'object' as const, properties: { n: { type: 'integer' as const } }, required: ['n'] }
      return text(await ctx.elicit('n', { message: 'n?', schema: form }))
    })
    const given = [{}, { n: 'x' }, { n: 3 }]
    const peer = await connect(server, revision, {
      'elicitation/create': () => ({ action: 'accept', content: given.shift() }),
    })
    expect((await peer.call('tools/call', { name: 't' })).content[0]?.text).toBe(
      '{"action":"accept","content":{"n":3}}',
    )
    expect(given).toEqual([])
  })

  it('sends only input requests that the client declared, and names missing capabilities if none is left [S-014, S-053]', async () => {
    const server = oneTool(async (args, ctx) => {
      if (args.one) await ctx.elicit('a', { message: 'a?', schema: { type: 'object', properties: {} } })
      const answers = await ctx.ask({
        a: {
          method: 'elicitation/create',
          params: { message: 'a?', requestedSchema: { type: 'object', properties: {} } },
        },
        b: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
      })
      return text(Object.keys(answers))
    })
    const sampling = () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } })
    const peer = await connect(server, revision, { 'sampling/createMessage': sampling }, { sampling: {} })
    expect((await peer.call('tools/call', { name: 't' })).content[0]?.text).toBe('["b"]')
    const lacking = await peer.call('tools/call', { name: 't', arguments: { one: true } })
    if (isLegacy) expect(lacking).toMatchObject({ isError: true })
    else expect(lacking).toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } })
  })

  it('continues after input requests of a hand-written handler, with its state', async () => {
    const server = oneTool((_, ctx) => {
      if (ctx.inputResponses === undefined) return inputRequired({ r: { method: 'roots/list' } }, 'my state')
      return text([ctx.requestState, ctx.inputResponses])
    })
    const peer = await connect(server, revision, { 'roots/list': () => ({ roots: [] }) })
    expect((await peer.call('tools/call', { name: 't' })).content[0]?.text).toBe('["my state",{"r":{"roots":[]}}]')
  })

  it('isolates 100 concurrent callers [S-010]', async () => {
    const server = oneTool(async ({ n }, ctx) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
      await ctx.progress(n as number)
      return text([n, ctx.client.info?.name])
    })
    const peers = await Promise.all(Array.from({ length: 100 }, () => connect(server, revision)))
    const results = await Promise.all(
      peers.map((peer, n) => peer.call('tools/call', { name: 't', arguments: { n: n + 1 } }, { progress: true })),
    )
    for (const [n, result] of results.entries()) {
      expect(result.content[0]?.text).toBe(JSON.stringify([n + 1, 'test']))
      expect(peers[n]?.heard.map(({ params }) => params?.progress)).toEqual([n + 1])
    }
  })
})
