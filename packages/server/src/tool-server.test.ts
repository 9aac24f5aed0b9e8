import { createJsonSchemaValidator } from '@mcpx/json-schema'
import { eraOf, type JsonObject, REVISIONS, type Responder } from '@mcpx/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createServer, RegistrationError, type ServerOptions, ToolError, timeout } from './index.ts'
import { type Answered, closeAll, connect, connectRaw } from './peers.fixture.ts'

/** The members that transports call. */
const asResponder = (server: Responder): Responder => server

afterEach(closeAll)

const MODERN = '2026-07-28'
const info = { name: 'test', version: '1' }

describe.each(REVISIONS)('a server with tools, revision %s', (revision) => {
  const isLegacy = eraOf(revision) === 'legacy'
  const build = (options: ServerOptions = {}) => createServer(info, options)

  it('lists and calls tools, and validates input and output', async () => {
    const server = build()
      .tool('add', { input: z.object({ a: z.number() }), output: z.object({ sum: z.number() }) }, ({ a }) => ({
        sum: a,
      }))
      .tool('fail', {}, () => {
        throw new ToolError('no')
      })
    const peer = await connect(server, revision)
    expect(await peer.call('tools/list')).toMatchObject({ tools: [{ name: 'add' }, { name: 'fail' }] })
    expect(await peer.call('tools/call', { name: 'add', arguments: { a: 1 } })).toMatchObject({
      content: [{ text: '{"sum":1}' }],
    })
    const refused = await peer.call('tools/call', { name: 'add', arguments: { a: 'x' } })
    expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/^arguments\.a: /) }] })
    expect(await peer.call('tools/call', { name: 'fail' })).toMatchObject({
      isError: true,
      content: [{ text: 'no' }],
    })
    expect(await peer.call('tools/call', { name: 'gone' })).toMatchObject({ code: -32602 })
  })

  it('declares tools and logging, and answers -32601 for all other methods [S-032]', async () => {
    const peer = await connect(
      build().tool('t', {}, () => ''),
      revision,
    )
    const methods = ['prompts/list', 'prompts/get', 'resources/list', 'resources/read', 'resources/templates/list']
    for (const method of [...methods, 'completion/complete', 'resources/subscribe', 'tasks/list', 'x', '__proto__']) {
      const params = {
        name: 'x',
        uri: 'x:1',
        ref: { type: 'ref/prompt', name: 'x' },
        argument: { name: 'a', value: '' },
      }
      expect([method, (await peer.call(method, params)).code]).toEqual([method, -32601])
    }
    if (isLegacy) return
    const { capabilities } = (await peer.call('server/discover')) as unknown as { capabilities: object }
    expect(capabilities).toEqual({ tools: { listChanged: true }, logging: {} })
  })

  it.each<[string, JsonObject, string]>([
    ['tools/call', {}, 'params.name: expected string, got nothing'],
    ['tools/call', { name: 't', arguments: [] }, 'params.arguments: expected object, got array'],
    ['tools/list', { cursor: 5 }, 'params.cursor: expected string, got number'],
  ])('names the invalid parameter of %s: %j', async (method, params, message) => {
    const peer = await connect(
      build().tool('t', {}, () => ''),
      revision,
    )
    expect(await peer.call(method, params)).toMatchObject({ code: -32602, message })
  })

  it('runs middleware, sends progress and logs, and paginates its list', async () => {
    const seen: string[] = []
    const server = build({ pageSize: 1 })
      .use((request, ctx, next) => {
        seen.push(`${request.method} ${ctx.client.info?.name}`)
        return next()
      })
      .use(timeout(5_000))
      .tool('a', {}, async (_args, { progress, log }) => {
        await progress(1, 2)
        await log.error('written')
      })
      .tool('b', {}, () => '')
    const peer = await connect(server, revision)
    const { tools, nextCursor } = (await peer.call('tools/list')) as Answered & { nextCursor?: string }
    expect(tools).toHaveLength(1)
    expect((await peer.call('tools/list', { cursor: nextCursor })).tools).toMatchObject([{ name: 'b' }])
    await peer.call('tools/call', { name: 'a' }, { progress: true })
    expect(seen).toEqual(['tools/list test', 'tools/list test', 'tools/call test'])
    const told = peer.heard.map(({ method }) => method)
    // A modern client gets what it asks for, and this one asks for no logs.
    expect(told).toEqual(isLegacy ? ['notifications/progress', 'notifications/message'] : ['notifications/progress'])
  })

  it('rejects foreign state and input responses', async () => {
    const server = build().tool('t', {}, (_args, ctx) => JSON.stringify(ctx.requestState ?? 'none'))
    const peer = await connect(server, revision)
    const answered = await peer.call('tools/call', { name: 't', requestState: 'forged' })
    if (isLegacy) expect(answered).toMatchObject({ content: [{ text: '"none"' }] })
    else
      expect(answered).toMatchObject({
        code: -32602,
        message: expect.stringMatching(/^params\.requestState: not valid/),
      })
    const others = await peer.call('tools/call', { name: 't', inputResponses: { k: { action: 'accept' } } })
    expect(others).toMatchObject({ content: [{ text: '"none"' }] })
  })

  it('validates plain JSON Schema with its validator, at registration and in each call', async () => {
    const server = build({ validator: createJsonSchemaValidator() })
    expect(() => server.tool('bad', { input: { type: 'object', properties: { a: { type: 'x' } } } }, () => '')).toThrow(
      RegistrationError,
    )
    server.tool('t', { input: { type: 'object', properties: { a: { type: 'number' } } } }, ({ a }) => `${a}`)
    const peer = await connect(server, revision)
    expect(await peer.call('tools/call', { name: 't', arguments: { a: 1 } })).toMatchObject({
      content: [{ text: '1' }],
    })
    expect(await peer.call('tools/call', { name: 't', arguments: { a: '1' } })).toMatchObject({
      isError: true,
      content: [{ text: 'arguments.a: expected number, got string' }],
    })
  })

  it('validates values that JSON changes', async () => {
    const faults: string[] = []
    const onError = (error: unknown) => void faults.push(String(error))
    const output = z.object({ at: z.any().meta({ type: 'string' }) })
    const call = async (at: unknown) => {
      const peer = await connect(
        build({ onError }).tool('t', { output }, () => ({ at })),
        revision,
      )
      return peer.call('tools/call', { name: 't' })
    }
    expect(await call('now')).toMatchObject({ content: [{ text: '{"at":"now"}' }] })
    const day = '1970-01-01T00:00:00.000Z'
    expect(await call(new Date(0))).toMatchObject({ content: [{ text: JSON.stringify({ at: day }) }] })
    expect(await call(Number.NaN)).toMatchObject({ isError: true })
    expect(faults).toEqual([
      expect.stringContaining('Tool "t" returned a value that does not match its output schema as JSON'),
    ])
  })

  it('can be mounted in any server, with its middleware', async () => {
    const inner = build()
      .use(async (_request, _ctx, next) => ({ ...(await next()), seen: true }))
      .tool('t', {}, () => 'inner')
    const peer = await connect(createServer(info).mount('part', inner), revision)
    expect(await peer.call('tools/call', { name: 'part.t' })).toMatchObject({
      content: [{ text: 'inner' }],
      seen: true,
    })
  })

  it('returns the schema of a tool only for permitted callers', async () => {
    const input = z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) })
    const server = build()
      .tool('mirrored', { input }, () => '')
      .tool('hidden', { input, visible: () => false }, () => '')
    const exchange = { auth: undefined } as never
    expect(await asResponder(server).inputSchemaOf?.('mirrored', exchange)).toMatchObject({
      properties: { region: {} },
    })
    expect(await asResponder(server).inputSchemaOf?.('hidden', exchange)).toBeUndefined()
    const peer = await connect(server, revision)
    expect((await peer.call('tools/list')).tools).toMatchObject([{ name: 'mirrored' }])
    expect(await peer.call('tools/call', { name: 'hidden' })).toMatchObject({ code: -32602 })
  })
})

describe('a server with tools only', () => {
  it('reports a failing `visible` function', async () => {
    const faults: unknown[] = []
    const visible = () => {
      throw new Error('undecided')
    }
    const server = createServer(info, { onError: (error) => void faults.push(error) }).tool('t', { visible }, () => '')
    expect(await asResponder(server).inputSchemaOf?.('t', { auth: undefined } as never)).toBeUndefined()
    expect(String(faults)).toBe('Error: undecided')
  })

  it('sends list changes to modern clients until it is closed', async () => {
    const server = createServer(info).tool('a', {}, () => '')
    const peer = await connect(server, MODERN)
    const notifications = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['a:b'] }
    const ended = peer.call('subscriptions/listen', { notifications }, { progress: true })
    await expect.poll(() => peer.heard.map(({ params }) => params?.notifications)).toEqual([{ toolsListChanged: true }])
    server.tool('b', {}, () => '')
    await expect.poll(() => peer.heard.at(-1)?.method).toBe('notifications/tools/list_changed')
    server.close()
    expect(await ended).toMatchObject({ resultType: 'complete' })
  })

  it('names the invalid parameter of "subscriptions/listen"', async () => {
    const peer = await connect(createServer(info), MODERN)
    expect(await peer.call('subscriptions/listen', { notifications: 1 })).toMatchObject({
      message: 'params.notifications: expected object, got number',
    })
  })

  it('sends list changes to each legacy session', async () => {
    const server = createServer(info).tool('a', {}, () => '')
    const peer = await connect(server, '2025-11-25')
    // The session receives changes after `notifications/initialized`.
    await peer.call('ping')
    server.tool('b', {}, () => '')
    await expect.poll(() => peer.heard.map(({ method }) => method)).toEqual(['notifications/tools/list_changed'])
  })

  it('stores the log level of a session, and rejects invalid levels', async () => {
    const server = createServer(info).tool('t', {}, (_args, { log }) => log.info('written'))
    const peer = await connect(server, '2025-11-25')
    expect(await peer.call('logging/setLevel', { level: 'loud' })).toMatchObject({ code: -32602 })
    expect(await peer.call('logging/setLevel', { level: 'error' })).toEqual({})
    await peer.call('tools/call', { name: 't' })
    expect(peer.heard).toEqual([])
  })

  it('names the invalid parameter of "initialize"', async () => {
    const peer = await connectRaw(createServer(info))
    const error = await peer.raw('initialize', { protocolVersion: '2025-11-25', capabilities: {} })
    expect(error).toMatchObject({ code: -32602, message: 'params.clientInfo: expected object, got nothing' })
  })

  it('rejects legacy clients with `legacy: false`', async () => {
    const older = { protocolVersion: 'x', capabilities: {}, clientInfo: info }
    const server = createServer(info, { legacy: false })
    expect(asResponder(server).legacy).toBe(false)
    const error = await (await connectRaw(server)).raw('initialize', older)
    expect(error).toMatchObject({ code: -32022, data: { supported: [MODERN] } })
  })
})
