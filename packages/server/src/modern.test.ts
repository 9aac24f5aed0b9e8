import { createDuplex, type JsonObject, type NotificationMessage, RpcError } from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { afterEach, describe, expect, it } from 'vitest'
import { createServer } from './index.ts'
import { closeAll, connectRaw, oneTool, text } from './peers.fixture.ts'

afterEach(closeAll)

const modern = '2026-07-28'

describe('the modern era', () => {
  const meta = (extra: JsonObject = {}) => ({
    _meta: {
      'io.modelcontextprotocol/protocolVersion': modern,
      'io.modelcontextprotocol/clientCapabilities': {},
      ...extra,
    },
  })

  it('discovers the server info and capabilities [S-030, S-031]', async () => {
    const peer = await connectRaw(oneTool(() => text(1), { instructions: 'be kind' }))
    for (let n = 0; n < 2; n++) {
      expect(await peer.raw('server/discover', meta())).toEqual({
        resultType: 'complete',
        supportedVersions: [modern],
        capabilities: { tools: {} },
        instructions: 'be kind',
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'test', version: '1' } },
      })
    }
  })

  it('rejects requests with invalid metadata, in the specified order [S-012, S-013, S-022]', async () => {
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

  it('adds cache hints to lists', async () => {
    const peer = await connectRaw(oneTool(() => text(1)))
    expect(await peer.raw('tools/list', meta())).toMatchObject({
      ttlMs: 0,
      cacheScope: 'private',
      resultType: 'complete',
    })
    expect(await peer.raw('tools/call', { name: 't', ...meta() })).not.toHaveProperty('ttlMs')
  })

  it.each([
    [{ ttlMs: 5, cacheScope: 'public' }, 5, 'public'],
    [{ ttlMs: 1.9 }, 1, 'private'],
    [{ ttlMs: -1 }, 0, 'private'],
    [{ ttlMs: Number.NaN }, 0, 'private'],
    [{ ttlMs: '9' }, 0, 'private'],
    [{ ttlMs: null, cacheScope: null }, 0, 'private'],
    [{ ttlMs: Number.POSITIVE_INFINITY, cacheScope: 'Public' }, Number.MAX_SAFE_INTEGER, 'private'],
  ])('adds valid cache hints to lists, also if a handler returns %j [S-040]', async (hints, ttlMs, cacheScope) => {
    const server = createServer(
      { name: 's', version: '1' },
      { listTools: () => ({ tools: [], ...hints }) as never, callTool: () => ({ content: [] }) },
    )
    const peer = await connectRaw(server)
    expect(await peer.raw('tools/list', meta())).toMatchObject({ ttlMs, cacheScope })
  })

  it('sends logs only to requests with a level, at or above that level [S-220]', async () => {
    const heard: NotificationMessage[] = []
    const [near, far] = createChannelPair()
    createDuplex(far, {
      responder: oneTool(
        async (_, { log }) => {
          await log.info('i')
          await log.error('e')
          return text(1)
        },
        { logging: true },
      ),
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

  it('reports a state that is too large when it is sent, not when it is returned', async () => {
    const errors: unknown[] = []
    const onError = (error: unknown) => void errors.push(error)
    const server = oneTool(
      async (_args, ctx) => {
        await ctx.step('read', () => 'x'.repeat(900_000))
        return text((await ctx.roots()).length)
      },
      { onError },
    )
    const peer = await connectRaw(server)
    const params = { name: 't', ...meta({ 'io.modelcontextprotocol/clientCapabilities': { roots: {} } }) }
    expect(await peer.raw('tools/call', params)).toMatchObject({ code: -32603 })
    expect(String(errors)).toMatch(
      /^Error: tools\/call "t", results of steps and answers: expected at most 1048576 characters, got \d+; return less from steps$/,
    )
  })

  it('rejects a state that was altered or belongs to another call [S-054, S-055]', async () => {
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

  it('repeats an input request without a valid answer [S-059, S-060]', async () => {
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

  it('sends an input request even if the handler catches the interruption', async () => {
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

  it('allows input requests only for methods that support them, and sends no reserved error code [S-007, S-050]', async () => {
    const faults: unknown[] = []
    const server = createServer(
      { name: 's', version: '1' },
      {
        onError: (error) => void faults.push(error),
        listTools: async (_, ctx) => ({ tools: [], nextCursor: String(await ctx.roots()) }),
        callTool: () => {
          throw new RpcError(-32042, 'visit')
        },
      },
    )
    const peer = await connectRaw(server)
    const roots = meta({ 'io.modelcontextprotocol/clientCapabilities': { roots: {} } })
    expect(await peer.raw('tools/list', roots)).toMatchObject({ code: -32603 })
    expect(faults).toHaveLength(1)
    expect(await peer.raw('tools/call', { name: 't', ...roots })).toMatchObject({ code: -32603, message: 'visit' })
  })

  it.each(['task', 'Complete', '', 7, null, {}])(
    'rejects an undeclared result type, such as %j, and reports it [S-004, S-020]',
    async (resultType) => {
      const faults: unknown[] = []
      const onError = (error: unknown) => void faults.push(error)
      const peer = await connectRaw(oneTool(() => ({ ...text('secret'), resultType }), { onError }))
      const answer = await peer.raw('tools/call', { name: 't', ...meta() })
      expect(answer).toMatchObject({ code: -32603, message: expect.stringMatching(/^Internal error \([0-9a-f]{8}\)$/) })
      expect(faults).toMatchObject([{ name: 'ResultError', message: expect.stringContaining('resultType') }])
    },
  )

  it('adds the result type, also if the handler sets it [S-004]', async () => {
    for (const given of [{}, { resultType: 'complete' }, { resultType: undefined }]) {
      const peer = await connectRaw(oneTool(() => ({ ...text(1), ...given })))
      expect(await peer.raw('tools/call', { name: 't', ...meta() })).toMatchObject({ resultType: 'complete' })
    }
  })
})
