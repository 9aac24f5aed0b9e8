/** Tool calls between a client and a server in one process, with all checks, compared with the official SDK. */
import { connect } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import * as z from 'zod'
import type { SpeedCase, Work } from '../case.ts'

/** The used part of the official SDK, whose types would make the compiler check its dependencies. */
interface PeerServer {
  connect(transport: unknown): Promise<void>
  registerTool(name: string, options: object, run: (args: z.infer<typeof Arguments>) => unknown): void
}
interface PeerClient {
  connect(transport: unknown): Promise<void>
  callTool(params: object): Promise<unknown>
}
interface Peer {
  Client: new (info: object, options?: object) => PeerClient
  InMemoryTransport: { createLinkedPair(): [unknown, unknown] }
  McpServer: new (info: object) => PeerServer
  serveStdio(build: () => PeerServer, options: { transport: unknown }): void
}

async function loadPeer(): Promise<Peer> {
  const names = ['client', 'server', 'server/stdio'].map((name) => `@modelcontextprotocol/${name}`)
  return Object.assign({}, ...(await Promise.all(names.map((name) => import(name)))))
}

const Arguments = z.object({ a: z.number(), b: z.number() })
const add = ({ a, b }: z.infer<typeof Arguments>) => ({ content: [{ type: 'text' as const, text: String(a + b) }] })
const info = { name: 'bench', version: '1.0.0' }

function isFive(result: unknown): boolean {
  return (result as ReturnType<typeof add>).content[0]?.text === '5'
}

function bareJson(): Work {
  let id = 0
  const answer = async (text: string): Promise<string> => {
    const message = JSON.parse(text)
    return JSON.stringify({
      jsonrpc: '2.0',
      id: message.id,
      result: await Promise.resolve(add(Arguments.parse(message.params.arguments))),
    })
  }
  const call = async () => {
    const params = { name: 'add', arguments: { a: 2, b: 3 } }
    return JSON.parse(await answer(JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params }))).result
  }
  return { call, isRight: isFive }
}

async function ours(era: 'legacy' | 'modern', tools = 1): Promise<Work> {
  const server = createServer(info)
  for (let n = 1; n < tools; n++) server.tool(`tool${n}`, { input: Arguments }, add)
  server.tool('add', { description: 'Add two numbers', input: Arguments }, add)
  const client = await connect(server, { era })
  return { call: () => client.callTool('add', { a: 2, b: 3 }), isRight: isFive }
}

function build({ McpServer }: Peer): PeerServer {
  const server = new McpServer(info)
  server.registerTool('add', { description: 'Add two numbers', inputSchema: Arguments }, async (args) => add(args))
  return server
}

async function theirsLegacy(): Promise<Work> {
  const peer = await loadPeer()
  const [near, far] = peer.InMemoryTransport.createLinkedPair()
  await build(peer).connect(far)
  const client = new peer.Client(info)
  await client.connect(near)
  return { call: () => client.callTool({ name: 'add', arguments: { a: 2, b: 3 } }), isRight: isFive }
}

async function theirsModern(): Promise<Work> {
  const peer = await loadPeer()
  const [near, far] = peer.InMemoryTransport.createLinkedPair()
  peer.serveStdio(() => build(peer), { transport: far })
  const client = new peer.Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(near)
  return { call: () => client.callTool({ name: 'add', arguments: { a: 2, b: 3 } }), isRight: isFive }
}

export const calls: SpeedCase = {
  kind: 'speed',
  name: 'calls',
  says: 'A `tools/call` with two numbers checked by zod, from a client to a server in one process, one at a time.',
  subjects: [
    { name: 'bare-json', says: 'JSON text to a function and back, awaited', prepare: bareJson },
    {
      name: 'modern',
      says: '@mcpx/client and @mcpx/server, modern era',
      against: 'bare-json',
      prepare: () => ours('modern'),
    },
    {
      name: 'legacy',
      says: '@mcpx/client and @mcpx/server, legacy era',
      against: 'bare-json',
      prepare: () => ours('legacy'),
    },
    { name: 'official-modern', says: 'the official SDK 2.4, modern era', prepare: theirsModern },
    {
      name: 'modern-beside',
      says: 'ours, modern era, beside it',
      against: 'official-modern',
      atMost: 0.25,
      prepare: () => ours('modern'),
    },
    { name: 'official-legacy', says: 'the official SDK 2.4, legacy era', prepare: theirsLegacy },
    {
      name: 'legacy-beside',
      says: 'ours, legacy era, beside it',
      against: 'official-legacy',
      atMost: 0.25,
      prepare: () => ours('legacy'),
    },
    { name: 'one-tool', says: 'ours, modern era, a server of one tool', prepare: () => ours('modern') },
    {
      name: 'many-tools',
      says: 'the same with 1,000 tools',
      against: 'one-tool',
      atMost: 1.1,
      prepare: () => ours('modern', 1_000),
    },
  ],
}
