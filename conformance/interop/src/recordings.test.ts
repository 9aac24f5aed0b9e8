/**
 * Records servers of other authors over stdio, HTTP and HTTP+SSE, and replays the recordings without them. The recording
 * of `@modelcontextprotocol/server-everything` over stdio is part of the repository: `MCPX_RECORD=1` writes it again.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Connector, connect } from '@mcpx/client'
import { compare, record, recordOnce, replay } from '@mcpx/testing/node'
import { answers } from '@mcpx/testing/server'
import { http } from '@mcpx/transport-http/client'
import { spawn } from '@mcpx/transport-stdio'
import { expect, it, onTestFinished } from 'vitest'
import { frameworkServers } from './third-party/frameworks.ts'
import { programOf, startListening } from './third-party/program.ts'

const EVERYTHING = '@modelcontextprotocol/server-everything'
const committed = fileURLToPath(new URL('../recordings/everything.json', import.meta.url))

const spawnEverything = (env?: Record<string, string>) =>
  spawn(process.execPath, [programOf(EVERYTHING), 'stdio'], { stderr: 'ignore', env })
const servers = [
  { name: 'stdio', open: async () => ({ connector: spawnEverything(), async close() {} }) },
  { name: 'HTTP', open: () => listen('streamableHttp', '/mcp') },
  { name: 'HTTP+SSE', open: () => listen('sse', '/sse') },
] as const

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recordings-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function listen(mode: string, path: string): Promise<{ connector: Connector; close(): Promise<void> }> {
  const { port, close } = await startListening(programOf(EVERYTHING), [mode])
  return { connector: http(`http://127.0.0.1:${port}${path}`), close }
}

/** Uses the features of the server. Returns all that the client received. */
async function play(connector: Connector): Promise<unknown> {
  const user = answers({ form: ({ mode }) => (mode === 'form' ? { name: 'Ada' } : 'cancel') }, { model: 'An ode.' })
  const client = await connect(connector, user.callbacks)
  const steps: unknown[] = []
  const onProgress = ({ progress }: { progress: number }) => void steps.push(progress)
  steps.push((await client.listTools().all()).map(({ name }) => name))
  steps.push(await client.callTool('get-sum', { a: 2, b: 3 }))
  steps.push(await client.callTool('get-structured-content', { location: 'Chicago' }))
  steps.push(await client.callTool('trigger-long-running-operation', { duration: 0.1, steps: 3 }, { onProgress }))
  steps.push(await client.callTool('trigger-elicitation-request'))
  steps.push(await client.callTool('trigger-sampling-request', { prompt: 'Hello', maxTokens: 10 }))
  steps.push(await client.callTool('get-sum', { a: 'two', b: 3 }))
  steps.push(await client.getPrompt('args-prompt', { city: 'Oslo' }))
  steps.push((await client.listResourceTemplates().all()).length, client.server.info?.name)
  await client.close()
  return steps
}

it('replays the committed recording', async () => {
  const steps = await play(replay(committed))
  expect(steps).toContain('mcp-servers/everything')
  expect(JSON.stringify(steps)).toContain('The sum of 2 and 3 is 5.')
  expect(JSON.stringify(steps)).toContain('An ode.')
})

it('finds that the server still behaves as in the committed recording', async () => {
  await play(recordOnce(spawnEverything(), committed, { mode: process.env.MCPX_RECORD === '1' ? 'record' : 'compare' }))
})

it.each(servers)('records a server over $name, and replays it without the server', async ({ open }) => {
  const { connector, close } = await open()
  const file = join(createFolder(), 'everything.json')
  const recorded = await play(record(connector, file))
  await play(compare(connector, file))
  await close()
  expect(await play(replay(file))).toEqual(recorded)
})

// A dependency of fastmcp has a `source` condition that Vitest would use.
const frameworks = frameworkServers.filter(({ name }) => name !== 'fastmcp')

it.each(frameworks)('records a server with $name, and replays it without the server', async ({ serve }) => {
  const { port, close } = await serve()
  const file = join(createFolder(), 'server.json')
  const add = async (connector: Connector) => {
    await using client = await connect(connector)
    const [tool] = await client.listTools().all()
    return [tool?.name, await client.callTool('add', { a: 2, b: 3 }), client.revision, client.server.info?.name]
  }
  const recorded = await add(record(http(`http://127.0.0.1:${port}/mcp`), file))
  await close()
  expect(recorded[1]).toMatchObject({ content: [{ type: 'text', text: '5' }] })
  expect(await add(replay(file))).toEqual(recorded)
})

it('writes no secrets of the environment, of headers and of URLs', async () => {
  const secrets = [
    'sk-live-51Habcdefghijklmnop',
    'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    'hunter2-of-ada',
    'q1w2e3r4t5',
  ]
  const [apiKey = '', token = '', password = '', parameter = ''] = secrets
  const folder = createFolder()
  const env = { STRIPE_API_KEY: apiKey, GITHUB_TOKEN: token, DB_PASSWORD: password }
  const overStdio = join(folder, 'stdio.json')
  const client = await connect(record(spawnEverything(env), overStdio))
  const result = await client.callTool('get-env')
  expect(JSON.stringify(result)).toContain(apiKey)
  await client.close()
  const { port, close } = await startListening(programOf(EVERYTHING), ['streamableHttp'])
  const overHttp = join(folder, 'http.json')
  const headers = { authorization: `Bearer ${token}`, 'x-api-key': apiKey }
  const url = `http://127.0.0.1:${port}/mcp?access_token=${parameter}`
  const second = await connect(record(http(url, { headers }), overHttp))
  await second.callTool('echo', { message: `see https://ada:${password}@example.com/?access_token=${parameter}` })
  await second.close()
  await close()
  for (const file of [overStdio, overHttp]) {
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('[redacted]')
    for (const secret of secrets) expect(text).not.toContain(secret)
  }
})
