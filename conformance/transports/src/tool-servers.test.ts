/** A server that offers tools alone, over each carrier, to clients of each era. */

import { PassThrough } from 'node:stream'
import { type Client, connect } from '@mcpx/client'
import type { Connector } from '@mcpx/protocol'
import { createJsonSchemaValidator } from '@mcpx/protocol/json-schema'
import { createServer, type ToolServer } from '@mcpx/server/tools'
import { createServer as createModernServer } from '@mcpx/server/tools/modern'
import { mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import { overStreams, serveStdio } from '@mcpx/transport-stdio'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serve } from './carriers.fixture.ts'

const input = {
  type: 'object',
  properties: { a: { type: 'number' }, region: { type: 'string', 'x-mcp-header': 'Region' } },
  required: ['a'],
} as const
const output = { type: 'object', properties: { twice: { type: 'number' } } } as const

/** A server whose one tool makes another one. */
function build(create: typeof createServer): ToolServer {
  const server = create({ name: 'sums', version: '1.0.0' }, { validator: createJsonSchemaValidator() })
  return server.tool('double', { input, output }, async ({ a }, { progress }) => {
    await progress(1, 2, 'halfway')
    server.tool('later', { replace: true }, () => '')
    return { twice: Number(a) * 2 }
  })
}

type Fetch = (request: Request) => Response | Promise<Response>
const local = (fetch: Fetch): Connector =>
  http('http://127.0.0.1/mcp', { fetch: async (url, init) => fetch(new Request(String(url), init)) })

function overPipes(server: ToolServer): Connector {
  const [toServer, toClient] = [new PassThrough(), new PassThrough()]
  void serveStdio(server, { input: toServer, output: toClient, drainTimeout: 0 })
  return overStreams(async () => ({ input: toClient, output: toServer }))
}

const carriers: Readonly<Record<string, (server: ToolServer) => Connector | Promise<Connector>>> = {
  'a port': async (server) => http((await serve(server)).url),
  'a fetch handler': (server) => local(mcp(server).fetch as Fetch),
  'a fetch handler of the modern era': (server) => local(mcp(server, { legacy: false }).fetch as Fetch),
  pipes: overPipes,
}

async function reach(carrier: string, era: 'modern' | 'legacy', create = createServer): Promise<Client> {
  const client = await connect(await (carriers[carrier] as (typeof carriers)[string])(build(create)), { era })
  onTestFinished(() => client.close())
  return client
}

const ways = Object.keys(carriers).flatMap((carrier) => [
  { carrier, era: 'modern' as const, create: createServer, entry: 'tools' },
  { carrier, era: 'modern' as const, create: createModernServer, entry: 'tools/modern' },
  ...(carrier.endsWith('modern era')
    ? []
    : [{ carrier, era: 'legacy' as const, create: createServer, entry: 'tools' }]),
])

describe.each(ways)('a server of @mcpx/server/$entry over $carrier, to a $era client', ({ carrier, era, create }) => {
  it('answers, tells how far it is, and that there is a tool more', async () => {
    const client = await reach(carrier, era, create)
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(['double'])
    const changes = client.listen({ toolsListChanged: true })
    await changes.ready
    const progress: unknown[] = []
    const result = await client.callTool(
      'double',
      { a: 2, region: 'eu' },
      { onProgress: (each) => progress.push(each) },
    )
    expect(result).toMatchObject({ structuredContent: { twice: 4 } })
    expect(progress).toMatchObject([{ progress: 1, total: 2, message: 'halfway' }])
    for await (const change of changes) {
      expect(change).toEqual({ kind: 'tools' })
      break
    }
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(['double', 'later'])
  })

  it('refuses arguments that its schema does not allow, and methods that are none of a tool', async () => {
    const client = await reach(carrier, era, create)
    const refused = await client.callTool('double', { a: 'x' })
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: 'arguments.a: expected number, got string' }],
    })
    await expect(client.request('prompts/get', { name: 'p' })).rejects.toMatchObject({ code: -32601 })
  })
})
