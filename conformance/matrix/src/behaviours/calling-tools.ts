/** Listing and calling tools, and failures of calls. */

import { createServer, ToolError, text } from '@mcpx/server'
import { expect } from 'vitest'
import * as z from 'zod'
import type { Behaviours } from '../behaviour.ts'
import { errorTextOf, textOf } from '../results.ts'

const info = { name: 'tools', version: '1.0.0' }
const point = z.object({ x: z.number(), tags: z.array(z.string()).default([]) })
const rawPoint = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } as const

export const callingTools: Behaviours = {
  async 'the debug option shows the messages of a client'({ connect }) {
    const lines: string[] = []
    const schemas = { input: z.object({ password: z.string() }), output: z.object({ secret: z.string() }) }
    const server = createServer(info).tool('count', schemas, async (_, ctx) => {
      await ctx.progress(1)
      return { secret: 'hunter22' }
    })
    const client = await connect(server, { debug: (line) => void lines.push(line) })
    lines.length = 0
    await client.callTool('count' as string, { password: 'hunter22' }, { onProgress: () => {} })
    expect(lines[0]).toMatch(/^mcpx client -> .*"method":"tools\/call"/)
    expect(lines.at(-1)).toMatch(/^mcpx client <- .*"result"/)
    expect(lines.join()).not.toContain('hunter22')
  },

  async 'the handshake or discovery returns the server’s info and capabilities'({ connect, revision, era, transport }) {
    const server = createServer({ ...info, title: 'The tools' }, { instructions: 'Be kind.' }).tool('a', {}, () => 'b')
    const client = await connect(server)
    expect(client).toMatchObject({ revision, era })
    expect(client.server.info).toEqual({ ...info, ...(revision >= '2025-06-18' && { title: 'The tools' }) })
    expect(client.server.instructions).toBe('Be kind.')
    // Without sessions there is no stream for change notifications.
    const tools = transport === 'HTTP without sessions' ? {} : { listChanged: true }
    expect(client.server.capabilities).toEqual({ tools, logging: {} })
  },

  async 'tools are listed with their schemas and annotations'({ connect, revision }) {
    const server = createServer(info)
      .tool(
        'zod',
        {
          title: 'Zod',
          description: 'By a library',
          input: point,
          annotations: { readOnlyHint: true },
          icons: [{ src: 'https://example.com/a.png' }],
          _meta: { 'com.example/a': 1 },
        },
        () => 'x',
      )
      .tool('raw', { input: rawPoint }, () => 'x')
      .tool('none', {}, () => 'x')
    const [zod, raw, none] = await (await connect(server)).listTools().all()
    expect(zod).toMatchObject({ name: 'zod', description: 'By a library' })
    expect(zod?.inputSchema).toMatchObject({ type: 'object', properties: { x: { type: 'number' } }, required: ['x'] })
    expect(zod?.title).toBe(revision < '2025-06-18' ? undefined : 'Zod')
    expect(zod?._meta).toEqual(revision < '2025-06-18' ? undefined : { 'com.example/a': 1 })
    expect(zod?.annotations).toEqual(revision < '2025-03-26' ? undefined : { readOnlyHint: true })
    expect(zod?.icons?.length).toBe(revision < '2025-11-25' ? undefined : 1)
    expect(raw?.inputSchema).toEqual(rawPoint)
    expect(none?.inputSchema).toEqual({ type: 'object', additionalProperties: false })
  },

  async 'a tool receives the parsed arguments of its schema'({ connect }) {
    const server = createServer(info)
      .tool('zod', { input: point }, ({ x, tags }) => `${x + 1} ${JSON.stringify(tags)}`)
      .tool('raw', { input: rawPoint }, (args) => JSON.stringify(args))
      .tool('none', {}, (args) => JSON.stringify(args))
    const client = await connect(server)
    expect(textOf(await client.callTool('zod', { x: 1 }))).toBe('2 []')
    expect(textOf(await client.callTool('raw' as string, { x: 1, y: ['é'] }))).toBe('{"x":1,"y":["é"]}')
    expect(textOf(await client.callTool('none'))).toBe('{}')
  },

  async 'invalid arguments return an error result that names the place'({ connect }) {
    const server = createServer(info)
      .tool('zod', { input: point }, () => 'never')
      .tool('raw', { input: rawPoint }, () => 'never')
    const client = await connect(server)
    const zod = await client.callTool('zod' as string, { x: 1, tags: ['a', 7] })
    expect(errorTextOf(zod)).toMatch(/^arguments\.tags\[1\]: /)
    const raw = await client.callTool('raw' as string, { x: 'one' })
    expect(errorTextOf(raw)).toBe('arguments.x: expected number, got string')
    expect(errorTextOf(await client.callTool('raw' as string))).toMatch(/^arguments\.x: /)
  },

  async 'the message of a ToolError is returned to the model'({ connect }) {
    const server = createServer(info).tool('fail', {}, async () => {
      throw new ToolError('There is no city called Atlantis.')
    })
    expect(await (await connect(server)).callTool('fail')).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'There is no city called Atlantis.' }],
    })
  },

  async 'other errors are masked for clients and passed to onError'({ connect }) {
    const errors: [unknown, string][] = []
    const onError = (error: unknown, _ctx: unknown, id: string) => void errors.push([error, id])
    const secret = new Error('the password is 1234')
    const server = createServer(info, { onError })
      .tool('fail', {}, () => {
        throw secret
      })
      .resource('note://a', {}, () => {
        throw secret
      })
      .prompt('fail', {}, () => {
        throw secret
      })
    const client = await connect(server)
    const toolError = errorTextOf(await client.callTool('fail'))
    const read = await client.readResource('note://a').catch((error) => error)
    const got = await client.getPrompt('fail').catch((error) => error)
    expect([read.code, got.code]).toEqual([-32603, -32603])
    const messages = [toolError, read.message, got.message]
    expect(messages.join()).not.toContain('1234')
    expect(errors.map(([error]) => error)).toEqual([secret, secret, secret])
    for (const [index, [, id]] of errors.entries()) expect(messages[index]).toContain(id)
  },

  async 'an unknown tool is a protocol error'({ connect }) {
    const client = await connect(createServer(info).tool('a', {}, () => 'b'))
    await expect(client.callTool('nope')).rejects.toMatchObject({ code: -32602, message: 'Unknown tool: "nope"' })
  },

  async 'an unsupported method is rejected as unknown'({ connect }) {
    const client = await connect(createServer(info).tool('a', {}, () => 'b'))
    await expect(client.request('prompts/get', { name: 'a' })).rejects.toMatchObject({ code: -32601 })
    await expect(client.readResource('a:b')).rejects.toMatchObject({ code: -32601 })
    await expect(client.request('com.example/own')).rejects.toMatchObject({ code: -32601 })
  },

  async 'a removed tool cannot be called, and its name can be reused'({ connect }) {
    const server = createServer(info)
      .tool('a', {}, () => 'old')
      .tool('b', {}, () => 'b')
    const client = await connect(server)
    expect(server.removeTool('a')).toBe(true)
    await expect(client.callTool('a')).rejects.toMatchObject({ code: -32602, message: 'Unknown tool: "a"' })
    server.tool('a', {}, () => text('new'))
    expect(textOf(await client.callTool('a'))).toBe('new')
    expect((await client.listTools().all()).map(({ name }) => name).sort()).toEqual(['a', 'b'])
  },
}
