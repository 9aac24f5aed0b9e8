import {
  type Context,
  createDuplex,
  type Duplex,
  eraOf,
  errorMessage,
  type JsonObject,
  type NotificationMessage,
  REVISIONS,
  type Responder,
  type Revision,
  RpcError,
  resultMessage,
  withEnvelope,
} from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { afterEach, describe, expect, it } from 'vitest'
import { createServer, inputRequired, type ServerOptions, ToolError } from '../index.ts'

const legacyRevisions = REVISIONS.filter((revision) => eraOf(revision) === 'legacy')
const modern = '2026-07-28'
const capabilities = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }

/** A result or an error, as far as the tests look into it. */
interface Answered {
  readonly content: readonly { readonly text: string }[]
  readonly tools?: unknown
  readonly code?: number
  readonly message?: string
  readonly resultType?: string
  readonly requestState?: string
  readonly inputRequests?: Record<string, { readonly method: string; readonly params?: JsonObject }>
  readonly isError?: boolean
  readonly protocolVersion?: string
  readonly serverInfo?: { readonly title?: string }
  readonly _meta?: unknown
}

type Answers = Record<string, (params: JsonObject) => unknown>

interface Peer {
  readonly heard: NotificationMessage[]
  /** The result, or the error that was answered. */
  call(method: string, params?: JsonObject, options?: { progress?: boolean; signal?: AbortSignal }): Promise<Answered>
  raw(method: string, params?: JsonObject): Promise<Answered>
  notify: Duplex['notify']
  close(): Promise<void>
}

const open: Peer[] = []
afterEach(async () => {
  for (const peer of open.splice(0)) await peer.close()
})

/** A client of one revision that answers what it is asked; in the modern era it goes round until the call is complete. */
async function connect(
  server: Responder,
  revision: Revision,
  answers: Answers = {},
  declared: object = capabilities,
): Promise<Peer> {
  const heard: NotificationMessage[] = []
  const responder: Responder = {
    async respond(message) {
      if (!('id' in message)) return void heard.push(message)
      try {
        return resultMessage(message.id, (await answers[message.method]?.(message.params ?? {})) as object)
      } catch (error) {
        return errorMessage(message.id, error as RpcError)
      }
    },
  }
  const [near, far] = createChannelPair()
  createDuplex(far, { responder: server })
  const duplex = createDuplex(near, { responder })
  const isLegacy = eraOf(revision) === 'legacy'
  const envelope = {
    protocolVersion: revision,
    clientCapabilities: declared as never,
    clientInfo: { name: 'test', version: '1' },
  }
  const raw: Peer['raw'] = (method, params = {}) =>
    duplex.request(method, params).catch((error) => error) as Promise<Answered>
  const call: Peer['call'] = async (method, params = {}, { progress, signal } = {}) => {
    const options = { signal, ...(progress && { onNotification: (n: NotificationMessage) => void heard.push(n) }) }
    for (let round = 0; ; round++) {
      const sent = isLegacy ? params : withEnvelope(params, envelope)
      const result = (await duplex.request(method, sent, options).catch((error) => error)) as Answered
      if (result?.resultType !== 'input_required' || round > 9) return result
      const given = await Promise.all(
        Object.entries(result.inputRequests ?? {}).map(async ([key, asked]) => [
          key,
          await answers[asked.method]?.(asked.params ?? {}),
        ]),
      )
      const { inputResponses, requestState, ...original } = params
      params = {
        ...original,
        inputResponses: Object.fromEntries(given),
        ...(result.requestState && { requestState: result.requestState }),
      }
    }
  }
  if (isLegacy) {
    await duplex.request('initialize', {
      protocolVersion: revision,
      capabilities: declared,
      clientInfo: envelope.clientInfo,
    })
    await duplex.notify('notifications/initialized')
  }
  const peer: Peer = { heard, call, raw, notify: duplex.notify.bind(duplex), close: () => duplex.close() }
  open.push(peer)
  return peer
}

/** A server of one tool. */
function oneTool(run: (args: JsonObject, ctx: Context) => unknown, options: ServerOptions = {}) {
  return createServer(
    { name: 'test', version: '1' },
    {
      ...options,
      listTools: () => ({ tools: [{ name: 't', inputSchema: { type: 'object' } }] }),
      callTool: async ({ arguments: args = {} }, ctx) => (await run(args, ctx)) as never,
    },
  )
}

const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) ?? '' }] })

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

  it('answers -32601 for methods it does not offer, and for those that are not of this wire', async () => {
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

  it('says which parameter is wrong', async () => {
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

  it('shows the text of a ToolError and masks everything else, giving it whole to the author', async () => {
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

  it('tells of progress only when asked to, only forwards, and before the answer', async () => {
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

  it('fires the signal of a call that is cancelled', async () => {
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

  it('asks in the middle of a straight line, once for each question, and runs each step once', async () => {
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

  it('asks again when the form was filled in wrongly', async () => {
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

  it('asks only what the client has declared, and says what is missing when that leaves nothing', async () => {
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

  it('goes on from questions that a handler wrote by hand, with the state it gave along', async () => {
    const server = oneTool((_, ctx) => {
      if (ctx.inputResponses === undefined) return inputRequired({ r: { method: 'roots/list' } }, 'my state')
      return text([ctx.requestState, ctx.inputResponses])
    })
    const peer = await connect(server, revision, { 'roots/list': () => ({ roots: [] }) })
    expect((await peer.call('tools/call', { name: 't' })).content[0]?.text).toBe('["my state",{"r":{"roots":[]}}]')
  })

  it('tells 100 callers at once nothing of each other', async () => {
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

describe('the legacy era', () => {
  it.each(legacyRevisions)('agrees on %s and shows only what that revision has', async (revision) => {
    const server = createServer(
      { name: 's', version: '1', title: 'S' },
      { instructions: 'be kind', listTools: () => ({ tools: [] }), callTool: () => ({ content: [] }) },
    )
    const peer = await connectRaw(server)
    const result = await peer.raw('initialize', {
      protocolVersion: revision,
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    })
    expect(result).toMatchObject({
      protocolVersion: revision,
      capabilities: { tools: {}, logging: {} },
      instructions: 'be kind',
    })
    expect(result.serverInfo?.title).toBe(revision < '2025-06-18' ? undefined : 'S')
    expect(result).not.toHaveProperty('resultType')
  })

  it.each(['2026-07-28', '1999-01-01', 'x'])(
    'offers its newest revision to a client that asks for %s',
    async (protocolVersion) => {
      const peer = await connectRaw(oneTool(() => text(1)))
      const result = await peer.raw('initialize', {
        protocolVersion,
        capabilities: {},
        clientInfo: { name: 'c', version: '1' },
      })
      expect(result.protocolVersion).toBe('2025-11-25')
    },
  )

  it('answers nothing but ping before the handshake, and shakes hands once', async () => {
    const peer = await connectRaw(oneTool(() => text(1)))
    expect(await peer.raw('ping')).toEqual({})
    expect(await peer.raw('tools/list')).toMatchObject({ code: -32600, message: expect.stringContaining('initialize') })
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    expect(await peer.raw('initialize', {})).toMatchObject({
      code: -32602,
      message: expect.stringContaining('params.'),
    })
    expect(await peer.raw('initialize', hello)).toMatchObject({ protocolVersion: '2025-11-25' })
    expect(await peer.raw('initialize', hello)).toMatchObject({
      code: -32600,
      message: expect.stringContaining('already'),
    })
    expect(await peer.raw('ping')).toEqual({})
  })

  it('sends logs from the level that the session has set', async () => {
    const server = oneTool(async (_, { log }) => {
      await log.debug('d')
      await log.warning('w', 'here')
      await log.error({ e: 1 })
      return text(1)
    })
    const peer = await connect(server, '2025-11-25')
    await peer.call('tools/call', { name: 't' })
    expect(peer.heard.map(({ params }) => params)).toEqual([
      { level: 'warning', logger: 'here', data: 'w' },
      { level: 'error', data: { e: 1 } },
    ])
    expect(await peer.call('logging/setLevel', { level: 'error' })).toEqual({})
    peer.heard.length = 0
    await peer.call('tools/call', { name: 't' })
    expect(peer.heard.map(({ params }) => params?.level)).toEqual(['error'])
    expect(await peer.call('logging/setLevel', { level: 'loud' })).toMatchObject({ code: -32602 })
  })

  it('gives a visited URL an id and says when the call is over', async () => {
    const server = oneTool(async (_, ctx) =>
      text(await ctx.openUrl('u', { message: 'go', url: 'https://example.com' })),
    )
    let seen: JsonObject = {}
    const peer = await connect(server, '2025-11-25', {
      'elicitation/create'(params) {
        seen = params
        return { action: 'accept' }
      },
    })
    await peer.call('tools/call', { name: 't' })
    expect(seen).toMatchObject({ mode: 'url', url: 'https://example.com', elicitationId: expect.any(String) })
    expect(peer.heard).toMatchObject([
      { method: 'notifications/elicitation/complete', params: { elicitationId: seen.elicitationId } },
    ])
  })
})

/** A peer that has said nothing yet. */
async function connectRaw(server: Responder): Promise<Peer> {
  const [near, far] = createChannelPair()
  createDuplex(far, { responder: server })
  const duplex = createDuplex(near)
  const raw: Peer['raw'] = (method, params) =>
    duplex.request(method, params).catch((error) => error) as Promise<Answered>
  const peer: Peer = { heard: [], call: raw, raw, notify: duplex.notify.bind(duplex), close: () => duplex.close() }
  open.push(peer)
  return peer
}

describe('the modern era', () => {
  const meta = (extra: JsonObject = {}) => ({
    _meta: {
      'io.modelcontextprotocol/protocolVersion': modern,
      'io.modelcontextprotocol/clientCapabilities': {},
      ...extra,
    },
  })

  it('says what it is and can do', async () => {
    const peer = await connectRaw(oneTool(() => text(1), { instructions: 'be kind' }))
    for (let n = 0; n < 2; n++) {
      expect(await peer.raw('server/discover', meta())).toEqual({
        resultType: 'complete',
        supportedVersions: [modern],
        capabilities: { logging: {}, tools: {} },
        instructions: 'be kind',
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'test', version: '1' } },
      })
    }
  })

  it('refuses requests that do not describe themselves, in the order of the rules', async () => {
    const peer = await connectRaw(oneTool(() => text(1), { legacy: false }))
    const version = 'io.modelcontextprotocol/protocolVersion'
    expect(await peer.raw('tools/list')).toMatchObject({ code: -32602, message: expect.stringContaining(version) })
    expect(await peer.raw('tools/list', { _meta: { [version]: modern } })).toMatchObject({
      code: -32602,
      message: expect.stringContaining('clientCapabilities'),
    })
    expect(await peer.raw('tools/list', meta({ [version]: '1999-01-01' }))).toMatchObject({
      code: -32022,
      data: { supported: [modern], requested: '1999-01-01' },
    })
    expect(await peer.raw('tools/list', meta({ [version]: '2025-11-25' }))).toMatchObject({ code: -32022 })
    expect(await peer.raw('initialize', { protocolVersion: '2025-11-25' })).toMatchObject({
      code: -32022,
      message: expect.stringContaining(modern),
    })
  })

  it('marks lists with how long they keep', async () => {
    const peer = await connectRaw(oneTool(() => text(1)))
    expect(await peer.raw('tools/list', meta())).toMatchObject({
      ttlMs: 0,
      cacheScope: 'private',
      resultType: 'complete',
    })
    expect(await peer.raw('tools/call', { name: 't', ...meta() })).not.toHaveProperty('ttlMs')
  })

  it('sends logs only to a request that wants them, from the level it names', async () => {
    const heard: NotificationMessage[] = []
    const [near, far] = createChannelPair()
    createDuplex(far, {
      responder: oneTool(async (_, { log }) => {
        await log.info('i')
        await log.error('e')
        return text(1)
      }),
    })
    const duplex = createDuplex(near, {
      responder: { respond: (message) => void heard.push(message as NotificationMessage) },
    })
    await duplex.request('tools/call', { name: 't', ...meta() })
    expect(heard).toEqual([])
    await duplex.request('tools/call', { name: 't', ...meta({ 'io.modelcontextprotocol/logLevel': 'error' }) })
    expect(heard.map(({ params }) => params?.data)).toEqual(['e'])
    await duplex.close()
  })

  it('never takes a state that was altered, or that belongs to another call', async () => {
    const server = oneTool(async (args, ctx) => {
      await ctx.step('s', () => 1)
      return text([args, (await ctx.roots()).length])
    })
    const peer = await connectRaw(server)
    const ask = (params: JsonObject) =>
      peer.raw('tools/call', {
        name: 't',
        ...params,
        ...meta({ 'io.modelcontextprotocol/clientCapabilities': { roots: {} } }),
      })
    const first = await ask({ arguments: { a: 1 } })
    expect(first).toMatchObject({
      resultType: 'input_required',
      inputRequests: { roots: { method: 'roots/list' } },
      requestState: expect.any(String),
    })
    expect(first).not.toHaveProperty('ttlMs')
    const answers = { inputResponses: { roots: { roots: [] }, ignored: { roots: [] } } }
    const { requestState } = first
    for (const params of [
      { arguments: { a: 1 }, requestState: `${requestState}-TAMPERED`, ...answers },
      { arguments: { a: 2 }, requestState, ...answers },
      { arguments: { a: 1 }, requestState: 'x', ...answers },
    ]) {
      expect(await ask(params)).toMatchObject({ code: -32602, message: expect.stringContaining('requestState') })
    }
    const good = { arguments: { a: 1 }, requestState, inputResponses: { roots: { roots: [] } } }
    expect((await ask(good)).content[0]?.text).toBe('[{"a":1},0]')
  })

  it('asks again where the answer is missing or is none, and never completes without it', async () => {
    const peer = await connectRaw(oneTool(async (_, ctx) => text(await ctx.roots())))
    const ask = (params: JsonObject) =>
      peer.raw('tools/call', {
        name: 't',
        ...params,
        ...meta({ 'io.modelcontextprotocol/clientCapabilities': { roots: {} } }),
      })
    for (const inputResponses of [undefined, {}, { other: { roots: [] } }]) {
      expect(await ask({ inputResponses })).toMatchObject({ resultType: 'input_required' })
    }
    for (const inputResponses of [null, 5, [], { roots: 5 }, { roots: { roots: 'x' } }]) {
      const result = await ask({ inputResponses })
      expect(result.resultType === 'input_required' || result.code === -32602).toBe(true)
    }
  })

  it('counts a question even if the handler swallows the interruption', async () => {
    const server = oneTool(async (_, ctx) => {
      try {
        return text(await ctx.roots())
      } catch {
        return text('swallowed')
      }
    })
    const peer = await connectRaw(server)
    const result = await peer.raw('tools/call', {
      name: 't',
      ...meta({ 'io.modelcontextprotocol/clientCapabilities': { roots: {} } }),
    })
    expect(result).toMatchObject({ resultType: 'input_required' })
  })
})
