/** A server made with mcp-lite, under our client. */

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import * as z from 'zod'
import { connectOurs } from '../clients/ours.ts'
import { refusedWith, textOf } from '../feature.ts'
import { load } from '../load.ts'
import { form } from '../servers/goods.ts'
import type { Stranger } from './stranger.ts'

interface Context {
  progress?(progress: { progress: number; total: number }): Promise<void>
  elicit(params: { message: string; schema: object }): Promise<{ action: string; content?: { name: string } }>
}

interface Server {
  tool(name: string, options: object): Server
  resource(uri: string, meta: object, read: (uri: URL) => object): Server
  prompt(name: string, options: object): Server
}

interface Module {
  McpServer: new (options: object) => Server
  StreamableHttpTransport: new (options: object) => { bind(server: Server): (request: Request) => Promise<Response> }
  InMemorySessionAdapter: new (options: object) => object
  InMemoryClientRequestAdapter: new () => object
}

export const mcpLite: readonly Stranger[] = [undefined, '2025-06-18'].map((revision) => ({
  package: 'mcp-lite',
  is: 'server',
  over: revision === undefined ? 'http' : `http, ${revision}`,
  async run(check) {
    const lite = await load<Module>('mcp-lite')
    const transport = new lite.StreamableHttpTransport({
      sessionAdapter: new lite.InMemorySessionAdapter({ maxEventBufferSize: 100 }),
      clientRequestAdapter: new lite.InMemoryClientRequestAdapter(),
    })
    const server = createServer(getRequestListener(transport.bind(build(lite)), { overrideGlobalObjects: false }))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const driver = await connectOurs({
      carrier: 'http',
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
      ...(revision !== undefined && { revision }),
    })
    await check('lists and calls tools', async () => {
      assert.deepEqual(
        (await driver.listTools()).map(({ name }) => name),
        ['add', 'steps', 'ask'],
      )
      const result = await driver.callTool('add', { a: 2, b: 3 })
      assert.deepEqual(result.structuredContent, { sum: 5 })
    })
    await check('hears of progress', async () => {
      const seen: number[] = []
      await driver.callTool('steps', {}, { onProgress: ({ progress }) => void seen.push(progress) })
      assert.deepEqual(seen, [1, 2, 3])
    })
    await check('fills in a form', async () => {
      assert.equal(textOf(await driver.callTool('ask')), 'accept Ada')
    })
    await check('reads resources, and fills in prompts', async () => {
      assert.deepEqual((await driver.readResource('note://1')).contents[0], { uri: 'note://1', text: 'Note 1' })
      const { messages } = await driver.getPrompt('greet', { name: 'Ada' })
      assert.deepEqual(messages[0]?.content, { type: 'text', text: 'Greet Ada' })
    })
    await check('is refusedWith what is not there', async () => {
      await refusedWith(driver.nonsense(), -32601)
    })
    await driver.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  },
}))

const words = (text: string) => ({ content: [{ type: 'text', text }] })

function build({ McpServer }: Module): Server {
  const schemaAdapter = (schema: z.ZodType) => z.toJSONSchema(schema)
  return new McpServer({ name: 'lite', version: '1.0.0', schemaAdapter })
    .tool('add', {
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      handler: ({ a, b }: { a: number; b: number }) => ({ ...words(`${a + b}`), structuredContent: { sum: a + b } }),
    })
    .tool('steps', {
      handler: async (_args: unknown, ctx: Context) => {
        for (const progress of [1, 2, 3]) await ctx.progress?.({ progress, total: 3 })
        return words('done')
      },
    })
    .tool('ask', {
      handler: async (_args: unknown, ctx: Context) => {
        const { action, content } = await ctx.elicit({ message: 'Who?', schema: form })
        return words(`${action} ${content?.name}`)
      },
    })
    .resource('note://1', { name: 'note' }, (uri) => ({ contents: [{ uri: uri.href, text: 'Note 1' }] }))
    .prompt('greet', {
      arguments: [{ name: 'name', required: true }],
      handler: ({ name }: { name: string }) => ({
        messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}` } }],
      }),
    })
}
