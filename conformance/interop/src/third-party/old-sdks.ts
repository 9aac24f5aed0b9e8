/** Old releases of the official SDK: their clients with our server, and their servers with our client. */

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { connectOurs } from '../clients/ours.ts'
import { load } from '../load.ts'
import { serveOldSdkOverHttp } from '../servers/old-sdk.ts'
import { checkCutCall, type ResumingClient, type Resumption, startCuttingProxy } from './cut-call.ts'
import { checkAdd } from './small-server.ts'
import type { Check, Environment, ThirdParty } from './third-party.ts'

const PROGRAM = fileURLToPath(new URL('../servers/old-sdk.ts', import.meta.url))

interface Release {
  readonly name: string
  readonly hasSse: boolean
  readonly hasHttp: boolean
  readonly resumption?: Resumption
}

/**
 * The installed releases, by their names in `package.json`. Releases before 1.10 have HTTP with SSE only, and the client of 1.0
 * needs the `EventSource` of a browser for it.
 */
const releases: readonly Release[] = [
  { name: 'sdk-1.0', hasSse: false, hasHttp: false },
  { name: 'sdk-1.7', hasSse: true, hasHttp: false },
  { name: 'sdk-1.12', hasSse: true, hasHttp: true, resumption: 'itself' },
  { name: 'sdk-1.17', hasSse: true, hasHttp: true, resumption: 'with a token' },
  { name: 'sdk-1.24', hasSse: true, hasHttp: true, resumption: 'itself' },
  { name: 'sdk-1.29', hasSse: true, hasHttp: true, resumption: 'itself' },
]

interface Client extends ResumingClient {
  connect(transport: object): Promise<void>
  listTools(params?: object): Promise<{ tools: { name: string }[]; nextCursor?: string }>
  readResource(params: object): Promise<{ contents: { text: string }[] }>
  getPrompt(params: object): Promise<{ messages: { content: { text: string } }[] }>
  close(): Promise<void>
}

interface Module {
  readonly Client: new (info: object, options: object) => Client
  readonly SSEClientTransport: new (url: URL) => object
  readonly StdioClientTransport: new (server: object) => object
  readonly StreamableHTTPClientTransport: new (url: URL) => object
}

type Over = 'http' | 'sse' | 'stdio'

const modules: Readonly<Record<Over, string>> = { http: 'streamableHttp', sse: 'sse', stdio: 'stdio' }

function transportOf(over: Over, module: Module, { url, command: [command, ...args] }: Environment): object {
  if (over === 'stdio') return new module.StdioClientTransport({ command, args, stderr: 'ignore' })
  if (over === 'sse') return new module.SSEClientTransport(new URL(url.replace('/mcp', '/sse')))
  return new module.StreamableHTTPClientTransport(new URL(url))
}

async function checkClient(check: Check, client: Client): Promise<void> {
  await check('lists tools', async () => {
    const { tools, nextCursor } = await client.listTools()
    assert.equal(tools[0]?.name, 'add')
    assert.equal(typeof nextCursor, 'string')
  })
  await check('calls tools', async () => {
    const { content } = await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } })
    assert.deepEqual(JSON.parse(content[0]?.text ?? ''), { sum: 5 })
  })
  await check('receives an error for an unknown tool', async () => {
    await assert.rejects(client.callTool({ name: 'nothing', arguments: {} }), /Unknown tool/)
  })
  await check('reads resources and prompts', async () => {
    assert.equal((await client.readResource({ uri: 'note://1' })).contents[0]?.text, 'Note 1')
    const { messages } = await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } })
    assert.equal(messages[0]?.content.text, 'Greet Ada, as you like')
  })
}

function oldClient(name: string, over: Over): ThirdParty {
  return {
    package: name,
    is: 'client',
    over,
    async run(check, environment) {
      const module = await load<Module>(`${name}/client/index.js`, `${name}/client/${modules[over]}.js`)
      const client = new module.Client({ name, version: '1.0.0' }, { capabilities: {} })
      await client.connect(transportOf(over, module, environment))
      await checkClient(check, client)
      await client.close()
    },
  }
}

const oldServerOverStdio = (name: string): ThirdParty => ({
  package: name,
  is: 'server',
  over: 'stdio, its server',
  async run(check) {
    const driver = await connectOurs({ transport: 'stdio', command: [process.execPath, PROGRAM, name] })
    await checkAdd(check, driver)
    await driver.close()
  },
})

const oldServerOverHttp = (name: string): ThirdParty => ({
  package: name,
  is: 'server',
  over: 'http, its server',
  async run(check) {
    const server = await serveOldSdkOverHttp(name)
    const driver = await connectOurs({ transport: 'http', url: `http://127.0.0.1:${server.port}/mcp` })
    await checkAdd(check, driver)
    await check('continues when the server has forgotten the session', async () => {
      await server.forget()
      assert.equal((await driver.listTools())[0]?.name, 'add')
    })
    await driver.close()
    await server.close()
  },
})

const oldResumingClient = (name: string, resumption: Resumption): ThirdParty => ({
  package: name,
  is: 'client',
  over: 'http, cut',
  async run(check, environment) {
    const module = await load<Module>(`${name}/client/index.js`, `${name}/client/streamableHttp.js`)
    const client = new module.Client({ name, version: '1.0.0' }, { capabilities: {} })
    const proxy = await startCuttingProxy(environment.url)
    try {
      await client.connect(transportOf('http', module, { ...environment, url: proxy.url }))
      await check('resumes a call whose stream was cut', () => checkCutCall(client, proxy.cut, resumption))
      await client.close()
    } finally {
      await proxy.close()
    }
  },
})

export const oldSdks: readonly ThirdParty[] = releases.flatMap(({ name, hasSse, hasHttp, resumption }) => [
  oldClient(name, 'stdio'),
  ...(hasSse ? [oldClient(name, 'sse')] : []),
  ...(hasHttp ? [oldClient(name, 'http'), oldServerOverHttp(name)] : []),
  ...(resumption === undefined ? [] : [oldResumingClient(name, resumption)]),
  oldServerOverStdio(name),
])
