/** A server with mcp-lite, called by our client. */

import assert from 'node:assert/strict'
import { getRequestListener } from '@hono/node-server'
import * as z from 'zod'
import { connectOurs } from '../clients/ours.ts'
import { expectError, textOf } from '../feature.ts'
import { load } from '../load.ts'
import { form } from '../servers/shop-data.ts'
import type { ListeningServer } from './program.ts'
import { listen } from './small-server.ts'
import type { ThirdParty } from './third-party.ts'

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

export const mcpLite: readonly ThirdParty[] = [undefined, '2025-06-18'].map((revision) => ({
  package: 'mcp-lite',
  is: 'server',
  over: revision === undefined ? 'http' : `http, ${revision}`,
  async run(check) {
    const server = await serveMcpLite()
    const driver = await connectOurs({
      transport: 'http',
      url: `http://127.0.0.1:${server.port}/mcp`,
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
    await check('receives progress', async () => {
      const pattern: number[] = []
      await driver.callTool('steps', {}, { onProgress: ({ progress }) => void pattern.push(progress) })
      assert.deepEqual(pattern, [1, 2, 3])
    })
    await check('accepts a form', async () => {
      assert.equal(textOf(await driver.callTool('ask')), 'accept Ada')
    })
    await check('reads resources and prompts', async () => {
      assert.deepEqual((await driver.readResource('note://1')).contents[0], { uri: 'note://1', text: 'Note 1' })
      const { messages } = await driver.getPrompt('greet', { name: 'Ada' })
      assert.deepEqual(messages[0]?.content, { type: 'text', text: 'Greet Ada' })
    })
    await check('receives an error for an unknown method', async () => {
      await expectError(driver.requestUnknownMethod(), -32601)
    })
    await driver.close()
    await server.close()
  },
}))

/** Serves mcp-lite with sessions. */
export async function serveMcpLite(): Promise<ListeningServer> {
  const lite = await load<Module>('mcp-lite')
  const transport = new lite.StreamableHttpTransport({
    sessionAdapter: new lite.InMemorySessionAdapter({ maxEventBufferSize: 100 }),
    clientRequestAdapter: new lite.InMemoryClientRequestAdapter(),
  })
  return listen(getRequestListener(transport.bind(createLiteServer(lite)), { overrideGlobalObjects: false }))
}

const textResult = (text: string) => ({ content: [{ type: 'text', text }] })

function createLiteServer({ McpServer }: Module): Server {
  const schemaAdapter = (schema: z.ZodType) => z.toJSONSchema(schema)
  return new McpServer({ name: 'lite', version: '1.0.0', schemaAdapter })
    .tool('add', {
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      handler: ({ a, b }: { a: number; b: number }) => ({
        ...textResult(`${a + b}`),
        structuredContent: { sum: a + b },
      }),
    })
    .tool('steps', {
      handler: async (_args: unknown, ctx: Context) => {
        for (const progress of [1, 2, 3]) await ctx.progress?.({ progress, total: 3 })
        return textResult('done')
      },
    })
    .tool('ask', {
      handler: async (_args: unknown, ctx: Context) => {
        const { action, content } = await ctx.elicit({ message: 'Who?', schema: form })
        return textResult(`${action} ${content?.name}`)
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
