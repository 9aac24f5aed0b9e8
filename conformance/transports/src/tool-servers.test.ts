/** A server with tools over each transport, with clients of each era. */

import { PassThrough } from 'node:stream'
import { type Client, connect } from '@mcpx/client'
import type { Connector } from '@mcpx/protocol'
import { createServer, type Server } from '@mcpx/server'
import { mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import { overStreams, serveStdio } from '@mcpx/transport-stdio'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serve } from './connections.fixture.ts'

const input = {
  type: 'object',
  properties: { a: { type: 'number' }, region: { type: 'string', 'x-mcp-header': 'Region' } },
  required: ['a'],
} as const
const output = { type: 'object', properties: { twice: { type: 'number' } } } as const

/** A server whose tool registers another tool. */
function createToolServer(legacy: boolean): Server {
  const server = createServer({ name: 'sums', version: '1.0.0' }, { legacy })
  return server.tool('double', { input, output }, async ({ a }, { progress }) => {
    await progress(1, 2, 'halfway')
    server.tool('later', { replace: true }, () => '')
    return { twice: Number(a) * 2 }
  })
}

type Fetch = (request: Request) => Response | Promise<Response>
const connectFetch = (fetch: Fetch): Connector =>
  http('http://127.0.0.1/mcp', { fetch: async (url, init) => fetch(new Request(String(url), init)) })

function overPipes(server: Server): Connector {
  const [toServer, toClient] = [new PassThrough(), new PassThrough()]
  void serveStdio(server, { input: toServer, output: toClient, drainTimeout: 0 })
  return overStreams(async () => ({ input: toClient, output: toServer }))
}

const transports: Readonly<Record<string, (server: Server) => Connector | Promise<Connector>>> = {
  'an HTTP server': async (server) => http((await serve(server)).url),
  'a fetch handler': (server) => connectFetch(mcp(server).fetch as Fetch),
  'a fetch handler of the modern era': (server) => connectFetch(mcp(server, { legacy: false }).fetch as Fetch),
  pipes: overPipes,
}

async function connectOver(transport: string, era: 'modern' | 'legacy', legacy: boolean): Promise<Client> {
  const client = await connect(await (transports[transport] as (typeof transports)[string])(createToolServer(legacy)), {
    era,
  })
  onTestFinished(() => client.close())
  return client
}

const cases = Object.keys(transports).flatMap((transport) => [
  { transport, era: 'modern' as const, legacy: true },
  { transport, era: 'modern' as const, legacy: false },
  ...(transport.endsWith('modern era') ? [] : [{ transport, era: 'legacy' as const, legacy: true }]),
])

describe.each(cases)(
  'a server with tools over $transport, `legacy: $legacy`, with a $era client',
  ({ transport, era, legacy }) => {
    it('returns results, reports progress and sends list changes', async () => {
      const client = await connectOver(transport, era, legacy)
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

    it('rejects invalid arguments and unsupported methods', async () => {
      const client = await connectOver(transport, era, legacy)
      const refused = await client.callTool('double', { a: 'x' })
      expect(refused).toMatchObject({
        isError: true,
        content: [{ text: 'arguments.a: expected number, got string' }],
      })
      await expect(client.request('prompts/get', { name: 'p' })).rejects.toMatchObject({ code: -32601 })
    })
  },
)
