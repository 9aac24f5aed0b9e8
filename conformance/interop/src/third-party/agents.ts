/** The clients of LangChain, OpenAI Agents and Mastra with our server, and a server with Mastra. */

import assert from 'node:assert/strict'
import * as z from 'zod'
import { connectOurs } from '../clients/ours.ts'
import { load } from '../load.ts'
import { checkAdd, listen } from './small-server.ts'
import type { Check, Environment, ThirdParty } from './third-party.ts'

/** The part of a connected client that the checks need. */
interface Agent {
  /** Whether the client answers input requests. Default: false. */
  readonly answersForms?: boolean
  listTools(): Promise<readonly string[]>
  /** Returns the whole result as JSON. */
  callTool(name: string, args: object): Promise<string>
  close(): Promise<void>
}

interface Variant {
  readonly package: string
  readonly over: 'http' | 'sse' | 'stdio'
  connect(environment: Environment): Promise<Agent>
}

/** The address of our server in the settings of LangChain and Mastra. */
function serverOf(over: Variant['over'], { url, command: [command, ...args] }: Environment) {
  if (over === 'stdio') return { command, args }
  return over === 'http' ? { url } : { url: url.replace('/mcp', '/sse') }
}

async function connectLangChain(over: Variant['over'], environment: Environment): Promise<Agent> {
  interface Tool {
    readonly name: string
    invoke(args: object): Promise<unknown>
  }
  const { MultiServerMCPClient } = await load<{
    MultiServerMCPClient: new (options: object) => { getTools(): Promise<readonly Tool[]>; close(): Promise<void> }
  }>('@langchain/mcp-adapters')
  const shop = { transport: over, ...serverOf(over, environment) }
  const client = new MultiServerMCPClient({ mcpServers: { shop }, useStandardContentBlocks: true })
  const tools = await client.getTools()
  return {
    listTools: async () => tools.map(({ name }) => name),
    async callTool(name, args) {
      const tool = tools.find((each) => each.name === name)
      return JSON.stringify(await tool?.invoke(args))
    },
    close: () => client.close(),
  }
}

async function connectOpenAi(over: Variant['over'], environment: Environment): Promise<Agent> {
  interface Server {
    connect(): Promise<void>
    listTools(): Promise<readonly { name: string }[]>
    callToolResult(name: string, args: object): Promise<object>
    close(): Promise<void>
  }
  type Class = new (options: object) => Server
  const module = await load<{ MCPServerStreamableHttp: Class; MCPServerSSE: Class; MCPServerStdio: Class }>(
    '@openai/agents-core',
  )
  const classes = { http: module.MCPServerStreamableHttp, sse: module.MCPServerSSE, stdio: module.MCPServerStdio }
  const server = new classes[over]({ name: 'shop', ...serverOf(over, environment) })
  await server.connect()
  return {
    listTools: async () => (await server.listTools()).map(({ name }) => name),
    callTool: async (name, args) => JSON.stringify(await server.callToolResult(name, args)),
    close: () => server.close(),
  }
}

async function connectMastra(over: Variant['over'], environment: Environment): Promise<Agent> {
  interface Client {
    __setLogger(logger: object): void
    listTools(): Promise<Readonly<Record<string, { execute(args: object, context: object): Promise<unknown> }>>>
    disconnect(): Promise<void>
  }
  const { MCPClient, noopLogger } = await load<{
    MCPClient: new (options: object) => Client
    noopLogger: object
  }>('@mastra/mcp', '@mastra/core/logger')
  const { url, ...server } = { url: undefined, ...serverOf(over, environment) }
  const inputRequests = async () => ({ action: 'accept', content: { name: 'Ada' } })
  const shop = { ...(url !== undefined && { url: new URL(url) }), ...server, inputRequests }
  const client = new MCPClient({ servers: { shop } })
  client.__setLogger(noopLogger)
  const tools = await client.listTools()
  return {
    answersForms: true,
    listTools: async () => Object.keys(tools).map((name) => name.replace(/^shop_/, '')),
    callTool: async (name, args) => JSON.stringify(await tools[`shop_${name}`]?.execute(args, {})),
    close: () => client.disconnect(),
  }
}

const overs = ['http', 'sse', 'stdio'] as const

const variants: readonly Variant[] = [
  ...overs.map(
    (over): Variant => ({
      package: '@langchain/mcp-adapters',
      over,
      connect: (environment) => connectLangChain(over, environment),
    }),
  ),
  ...overs.map(
    (over): Variant => ({
      package: '@openai/agents-core',
      over,
      connect: (environment) => connectOpenAi(over, environment),
    }),
  ),
  // Its newest version supports only the modern era, which has no HTTP+SSE.
  ...(['http', 'stdio'] as const).map(
    (over): Variant => ({
      package: '@mastra/mcp',
      over,
      connect: (environment) => connectMastra(over, environment),
    }),
  ),
]

const clients: readonly ThirdParty[] = variants.map(({ package: name, over, connect }) => ({
  package: name,
  is: 'client',
  over,
  async run(check, environment) {
    const agent = await connect(environment)
    try {
      await checkTools(check, agent)
    } finally {
      await agent.close()
    }
  },
}))

async function checkTools(check: Check, agent: Agent): Promise<void> {
  await check('lists tools', async () => {
    const names = await agent.listTools()
    for (const name of ['add', 'fail', 'slow']) assert.ok(names.includes(name), `${name} is not in ${names}`)
  })
  await check('calls tools', async () => {
    assert.match(await agent.callTool('add', { a: 2, b: 3 }), /5/)
    assert.match(await agent.callTool('slow', {}), /made it/)
  })
  await check('answers simultaneous calls', async () => {
    const calls = Array.from({ length: 20 }, (_, index) => agent.callTool('add', { a: index, b: 100 }))
    for (const [index, text] of (await Promise.all(calls)).entries()) assert.match(text, new RegExp(`${index + 100}`))
  })
  await check('learns that a tool has failed', async () => {
    const outcome = await agent.callTool('fail', {}).catch(String)
    assert.match(outcome, /isError|error|failed/i)
  })
  if (agent.answersForms !== true) return
  await check('accepts a form', async () => {
    assert.match(await agent.callTool('ask', { message: 'Who?' }), /accept.*Ada/)
  })
}

interface Terms {
  readonly a: number
  readonly b: number
}

const mastraServer: ThirdParty = {
  package: '@mastra/mcp',
  is: 'server',
  over: 'http',
  async run(check) {
    const { MCPServer, createTool } = await load<{
      MCPServer: new (options: object) => { startHTTP(options: object): Promise<void>; close(): Promise<void> }
      createTool(options: object): object
    }>('@mastra/mcp', '@mastra/core/tools')
    const add = createTool({
      id: 'add',
      description: 'Adds',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      execute: async ({ a, b }: Terms) => a + b,
    })
    const server = new MCPServer({ id: 'mastra', name: 'mastra', version: '1.0.0', tools: { add } })
    const { port, close } = await listen((req, res) => {
      void server.startHTTP({ url: new URL(req.url ?? '', 'http://127.0.0.1'), httpPath: '/mcp', req, res })
    })
    const driver = await connectOurs({ transport: 'http', url: `http://127.0.0.1:${port}/mcp` })
    await checkAdd(check, driver)
    await driver.close()
    await close()
    await server.close()
  },
}

export const agents: readonly ThirdParty[] = [...clients, mastraServer]
