/** What servers of tools do that every entry for them makes. */

import { type Context, eraOf, type JsonObject, type Revision } from '@mcpx/protocol'
import { createJsonSchemaValidator } from '@mcpx/protocol/json-schema'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Answered, connect } from './peers.fixture.ts'
import { createServer as createWholeServer, inputRequired, RegistrationError, ToolError, timeout } from './index.ts'
import type { createServer } from './server.ts'
import type { ToolServerOptions } from './tools.ts'

export const info = { name: 'test', version: '1' }

/** What a tool says that does at run time what its types forbid. */
const asWhole = (ctx: object) => ctx as unknown as Context

/** The tests of one entry, with a client of one revision. */
export function testToolServer(entry: string, create: typeof createServer, revision: Revision): void {
  describe(`a server of @mcpx/server/${entry}, revision ${revision}`, () => {
    const isLegacy = eraOf(revision) === 'legacy'
    const build = (options: ToolServerOptions = {}) => create(info, options)

    it('lists and calls tools, checks what goes in, and what comes out', async () => {
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

    it('declares tools and logging, and answers -32601 for all that is none of a tool [S-032]', async () => {
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
    ])('says which parameter of %s is wrong: %j', async (method, params, message) => {
      const peer = await connect(
        build().tool('t', {}, () => ''),
        revision,
      )
      expect(await peer.call(method, params)).toMatchObject({ code: -32602, message })
    })

    it('runs middleware, tells progress, writes logs, and pages its list', async () => {
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

    it('has ways of asking for nobody, and tells its author where there are', async () => {
      const faults: string[] = []
      const onError = (error: unknown) => void faults.push(String(error))
      const attempts: Record<string, (ctx: Context) => unknown> = {
        elicit: (ctx) => ctx.elicit('k', { message: 'm', schema: { type: 'object', properties: {} } }),
        openUrl: (ctx) => ctx.openUrl('k', { message: 'm', url: 'https://example.com' }),
        sample: (ctx) => ctx.sample('k', { messages: [], maxTokens: 1 }),
        roots: (ctx) => ctx.roots(),
        ask: (ctx) => ctx.ask({ k: { method: 'roots/list' } }),
        step: (ctx) => ctx.step('k', () => 1),
        byHand: () => inputRequired({ k: { method: 'roots/list' } }),
      }
      const server = build({ onError })
      for (const [name, attempt] of Object.entries(attempts))
        server.tool(name, {}, (_args, ctx) => attempt(asWhole(ctx)))
      const peer = await connect(server, revision)
      for (const name of Object.keys(attempts)) {
        const { content, code } = await peer.call('tools/call', { name })
        expect([name, content?.[0]?.text ?? code]).toEqual([
          name,
          name === 'byHand' ? -32603 : expect.stringMatching(/^The tool failed \(error /),
        ])
      }
      const fault =
        'Error: A server of tools alone cannot ask the client: make it with createServer of "@mcpx/server" instead'
      expect(faults).toEqual(Object.keys(attempts).map(() => fault))
    })

    it('takes no state that it has not given, and no answers', async () => {
      const server = build().tool('t', {}, (_args, ctx) => JSON.stringify(asWhole(ctx).requestState ?? 'none'))
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

    it('refuses a plain JSON Schema without a validator, and says which to pass', () => {
      const refused = () => build().tool('t', { input: { type: 'object' } }, () => '')
      expect(refused).toThrow(RegistrationError)
      expect(refused).toThrow(
        'Tool "t", input: to check values against JSON Schema takes a validator; import { createJsonSchemaValidator } from ' +
          '"@mcpx/protocol/json-schema", and call createServer(info, { validator: createJsonSchemaValidator() })',
      )
      const output = () => build().tool('t', { output: { type: 'object' } }, () => ({}))
      expect(output).toThrow('Tool "t", output: to check values against JSON Schema takes a validator')
    })

    it('checks a plain JSON Schema with the validator that it has, at once and with each call', async () => {
      const server = build({ validator: createJsonSchemaValidator() })
      expect(() =>
        server.tool('bad', { input: { type: 'object', properties: { a: { type: 'x' } } } }, () => ''),
      ).toThrow(RegistrationError)
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

    it('checks what JSON would change with the validator that it has, and sends none of it unchecked', async () => {
      const faults: string[] = []
      const onError = (error: unknown) => void faults.push(String(error))
      const output = z.object({ at: z.any().meta({ type: 'string' }) })
      const call = async (options: ToolServerOptions, at: unknown) => {
        const peer = await connect(
          build({ onError, ...options }).tool('t', { output }, () => ({ at })),
          revision,
        )
        return peer.call('tools/call', { name: 't' })
      }
      const validator = createJsonSchemaValidator()
      expect(await call({}, 'now')).toMatchObject({ content: [{ text: '{"at":"now"}' }] })
      const day = '1970-01-01T00:00:00.000Z'
      expect(await call({ validator }, new Date(0))).toMatchObject({ content: [{ text: JSON.stringify({ at: day }) }] })
      expect(await call({}, new Date(0))).toMatchObject({ isError: true })
      expect(await call({ validator }, Number.NaN)).toMatchObject({ isError: true })
      expect(faults).toEqual([
        expect.stringContaining('Tool "t", output: to check values against JSON Schema takes a validator'),
        expect.stringContaining('Tool "t" returned what its output does not allow as JSON'),
      ])
    })

    it('can be mounted in a server of all kinds, with its middleware', async () => {
      const inner = build()
        .use(async (_request, _ctx, next) => ({ ...(await next()), seen: true }))
        .tool('t', {}, () => 'inner')
      const peer = await connect(createWholeServer(info).mount('part', inner), revision)
      expect(await peer.call('tools/call', { name: 'part.t' })).toMatchObject({
        content: [{ text: 'inner' }],
        seen: true,
      })
    })

    it('tells for whom a tool is there, and which schema it has for them', async () => {
      const input = z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) })
      const server = build()
        .tool('mirrored', { input }, () => '')
        .tool('hidden', { input, visible: () => false }, () => '')
      const exchange = { auth: undefined } as never
      expect(await server.inputSchemaOf?.('mirrored', exchange)).toMatchObject({ properties: { region: {} } })
      expect(await server.inputSchemaOf?.('hidden', exchange)).toBeUndefined()
      const peer = await connect(server, revision)
      expect((await peer.call('tools/list')).tools).toMatchObject([{ name: 'mirrored' }])
      expect(await peer.call('tools/call', { name: 'hidden' })).toMatchObject({ code: -32602 })
    })
  })
}
