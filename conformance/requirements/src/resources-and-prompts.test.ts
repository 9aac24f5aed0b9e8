import { type AuthInfo, LOGGING_LEVELS } from '@mcpx/protocol'
import { audio, createServer, image, resource } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFullServer } from './full-server.ts'
import { closeAll, connectLegacyRawClient, connectRawClient, KEY, meta, type RawClient } from './raw-client.ts'

afterEach(closeAll)

const info = { name: 's', version: '1' }
const read = async (client: RawClient, uri: unknown) => client.call('resources/read', { uri })

describe('resources', () => {
  it('are declared and listed [S-180, S-291]', async () => {
    const annotations = { audience: ['user' as const], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' }
    const server = createServer(info).resource('a:b', { annotations, mimeType: 'text/x' }, 'x')
    const client = connectRawClient(server)
    expect((await client.call('server/discover')).result?.capabilities).toHaveProperty('resources')
    expect((await client.call('resources/list')).result?.resources).toEqual([
      { uri: 'a:b', name: 'a:b', mimeType: 'text/x', annotations },
    ])
  })

  it('that do not exist cause an error with their URI [S-181]', async () => {
    const client = connectRawClient(createFullServer())
    for (const uri of ['note://gone', 'config://other', 'x:y', 'not a uri', '']) {
      const { error, result } = await read(client, uri)
      expect(result).toBeUndefined()
      expect(error).toMatchObject({ code: -32602, data: { uri } })
    }
    const broken = createServer(info).resource('a:b', {}, () => {
      throw new Error('secret')
    })
    expect((await read(connectRawClient(broken), 'a:b')).error).toMatchObject({
      code: -32603,
      message: expect.not.stringContaining('secret'),
    })
    const older = await connectLegacyRawClient(createFullServer())
    expect((await older.ask('resources/read', { uri: 'note://gone' })).error?.code).toBe(-32002)
  })

  it('contain text or Base64, and templates follow RFC 6570 [S-182]', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
    const server = createServer(info)
      .resource('a:bytes', {}, bytes)
      .resource('a:many', {}, [
        { uri: 'a:1', text: 'x' },
        { uri: 'a:2', blob: 'AQ==' },
      ])
      .resource('q://{host}{/path*}{?a,b}', {}, (variables) => variables)
    const client = connectRawClient(server)
    const contentsOf = async (uri: string) => (await read(client, uri)).result?.contents
    expect(await contentsOf('a:bytes')).toEqual([
      { uri: 'a:bytes', mimeType: 'application/octet-stream', blob: Buffer.from(bytes).toString('base64') },
    ])
    expect(await contentsOf('a:many')).toHaveLength(2)
    expect(await contentsOf('q://h/x/y%20z?a=1&b=%C3%A9')).toMatchObject([
      { text: JSON.stringify({ host: 'h', path: ['x', 'y z'], a: '1', b: 'é' }) },
    ])
  })

  it('have valid URIs, and templates do not match path traversal [S-183]', async () => {
    for (const uri of ['', 'no-scheme', '1a:b', 'a b:c', 'a:b c', 'a:\u0000']) {
      expect(() => createServer(info).resource(uri, {}, 'x')).toThrow('expected a URI with a scheme')
    }
    const server = createServer(info).resource('file:///data/{name}', {}, ({ name }) => name)
    const client = connectRawClient(server)
    for (const uri of ['file:///data/../etc/passwd', 'file:///data/a/b', 'file:///etc/passwd', 'file:///data/%zz']) {
      expect((await read(client, uri)).error?.code).toBe(-32602)
    }
  })

  it('can be restricted to some callers [S-184]', async () => {
    const server = createServer(info).resource('a:b', { scopes: ['admin'] }, 'x')
    expect((await read(connectRawClient(server), 'a:b')).error?.code).toBe(403)
    const auth = { subject: 'ann', scopes: ['admin'] } as unknown as AuthInfo
    expect((await read(connectRawClient(server, { auth }), 'a:b')).result).toHaveProperty('contents')
  })
})

describe('prompts', () => {
  it('are declared and listed, and accept strings only [S-190]', async () => {
    const client = connectRawClient(createFullServer())
    expect((await client.call('server/discover')).result?.capabilities).toHaveProperty('prompts')
    expect((await client.call('prompts/list')).result?.prompts).toMatchObject([
      { name: 'greet', arguments: [{ name: 'name', required: true }] },
    ])
    const wrong = { name: 'greet', arguments: { name: 5 } }
    expect((await client.call('prompts/get', wrong)).error?.code).toBe(-32602)
    const args = z.object({ n: z.number() })
    // @ts-expect-error: the compiler refuses it, too
    expect(() => createServer(info).prompt('p', { args }, () => '')).toThrow('prompt arguments are strings')
  })

  it('reject unknown names and missing arguments [S-191]', async () => {
    const client = connectRawClient(createFullServer())
    for (const params of [{ name: 'x' }, { name: 'greet' }, { name: 'greet', arguments: {} }, {}]) {
      expect((await client.call('prompts/get', params)).error?.code).toBe(-32602)
    }
  })

  it('contain images, audio and resources as Base64 with their MIME type [S-192]', async () => {
    const bytes = new Uint8Array([1, 2, 255])
    const blocks = [image(bytes, 'image/png'), audio(bytes, 'audio/wav'), resource('a:b', bytes), resource('a:c', 'x')]
    const server = createServer(info).prompt('p', {}, () =>
      blocks.map((content) => ({ role: 'user' as const, content })),
    )
    const { result } = await connectRawClient(server).call('prompts/get', { name: 'p' })
    const messages = (result?.messages ?? []) as { content: unknown }[]
    expect(messages.map(({ content }) => content)).toEqual([
      { type: 'image', data: 'AQL/', mimeType: 'image/png' },
      { type: 'audio', data: 'AQL/', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'a:b', mimeType: 'application/octet-stream', blob: 'AQL/' } },
      { type: 'resource', resource: { uri: 'a:c', mimeType: 'text/plain', text: 'x' } },
    ])
    expect(() => image(bytes, 'picture')).toThrow('mimeType: expected a MIME type')
  })
})

describe('completion', () => {
  const many = Array.from({ length: 150 }, (_, index) => `v${index}`)
  const server = createServer(info)
    .prompt('p', { args: z.object({ a: z.string(), b: z.string() }), complete: { a: () => many } }, () => '')
    .resource('n://{x}/{y}', { complete: { y: (value, known) => [`${known.x}-${value}`] } }, () => '')
  const complete = (ref: object, name: string, value = '', known?: object) =>
    connectRawClient(server).call('completion/complete', {
      ref,
      argument: { name, value },
      ...(known && { context: { arguments: known } }),
    })
  const prompt = { type: 'ref/prompt', name: 'p' }

  it('is declared, and returns at most 100 values [S-200]', async () => {
    expect((await connectRawClient(server).call('server/discover')).result?.capabilities).toHaveProperty('completions')
    expect((await complete(prompt, 'a')).result?.completion).toEqual({
      values: many.slice(0, 100),
      total: 150,
      hasMore: true,
    })
  })

  it('rejects unknown references, and is unknown on servers without it [S-201]', async () => {
    for (const ref of [{ type: 'ref/prompt', name: 'x' }, { type: 'ref/resource', uri: 'x:y' }, { type: 'x' }, {}]) {
      expect((await complete(ref, 'a')).error?.code).toBe(-32602)
    }
    expect((await complete(prompt, 'zzz')).error?.code).toBe(-32602)
    const { error } = await connectRawClient(createServer(info).prompt('p', {}, () => '')).call('completion/complete', {
      ref: prompt,
      argument: { name: 'a', value: '' },
    })
    expect(error?.code).toBe(-32601)
  })

  it('receives other arguments, accepts a template or a URI, and may return no values [S-202]', async () => {
    for (const uri of ['n://{x}/{y}', 'n://1/2']) {
      const { result } = await complete({ type: 'ref/resource', uri }, 'y', 't', { x: 'k' })
      expect(result?.completion).toMatchObject({ values: ['k-t'] })
    }
    expect((await complete(prompt, 'b')).result?.completion).toMatchObject({ values: [] })
  })
})

describe('pages', () => {
  it('have stable cursors that other lists reject, and end without one [S-210]', async () => {
    const server = createServer(info, { pageSize: 2 })
    for (let n = 0; n < 5; n++) server.tool(`t${n}`, {}, () => '').prompt(`p${n}`, {}, () => '')
    const client = connectRawClient(server)
    const names: string[] = []
    for (let cursor: unknown, more = true; more; more = cursor !== undefined) {
      const params = cursor === undefined ? {} : { cursor }
      const { result } = await client.call('tools/list', params)
      expect((await client.call('tools/list', params)).result).toEqual(result)
      names.push(...((result?.tools ?? []) as { name: string }[]).map(({ name }) => name))
      cursor = result?.nextCursor
      if (cursor === undefined) expect(result).not.toHaveProperty('nextCursor')
      else expect((await client.call('prompts/list', { cursor })).error?.code).toBe(-32602)
    }
    expect(names).toEqual(['t0', 't1', 't2', 't3', 't4'])
    for (const cursor of ['', 'x', '!!', null, 5]) {
      expect((await client.call('tools/list', { cursor })).error?.code).toBe(-32602)
    }
  })
})

describe('log messages', () => {
  const server = createServer(info).tool('log', {}, async (_, ctx) => {
    for (const level of LOGGING_LEVELS) await ctx.log[level](level, 'here')
    return 'x'
  })

  it('are declared, and sent before the response at or above the requested level [S-220]', async () => {
    const client = connectRawClient(server)
    expect((await client.call('server/discover')).result?.capabilities).toHaveProperty('logging')
    await client.call('tools/call', { name: 'log' })
    expect(client.notificationMethods()).toEqual([])
    for (const [index, level] of LOGGING_LEVELS.entries()) {
      const own = connectRawClient(server)
      await own.ask('tools/call', { name: 'log', _meta: meta({}, { [`${KEY}logLevel`]: level }) })
      expect(own.notificationMethods()).toHaveLength(LOGGING_LEVELS.length - index)
      expect(own.received.at(-1)).toHaveProperty('result')
      expect(own.received[0]).toMatchObject({ params: { level, data: level, logger: 'here' } })
    }
  })

  it.each(['loud', '', 5, null])('of the unknown level %j are rejected [S-221]', async (level) => {
    const { error } = await connectRawClient(server).ask('tools/list', {
      _meta: meta({}, { [`${KEY}logLevel`]: level }),
    })
    expect(error?.code).toBe(-32602)
  })
})
