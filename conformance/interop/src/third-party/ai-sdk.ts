/** The client of the AI SDK with our server. */

import assert from 'node:assert/strict'
import { load } from '../load.ts'
import type { Check, Environment, ThirdParty } from './third-party.ts'

type AnswerElicitation = (request: object) => object

interface Result {
  readonly content: readonly { text: string }[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
}

interface Client {
  readonly initializeResult: { protocolVersion: string }
  tools(): Promise<Record<string, { execute(args: object, options: object): Promise<Result> }>>
  onElicitationRequest(schema: object, answer: AnswerElicitation): void
  listResources(): Promise<{ resources: { uri: string }[]; nextCursor?: string }>
  readResource(params: object): Promise<{ contents: { text: string }[] }>
  getPrompt(params: object): Promise<{ messages: { content: { text: string } }[] }>
  complete(params: object): Promise<{ completion: { values: string[] } }>
  callTool(params: object): Promise<Result>
  close(): Promise<void>
}

interface Module {
  createMCPClient(options: object): Promise<Client>
  ElicitationRequestSchema: object
  Experimental_StdioMCPTransport: new (server: object) => object
}

interface Variant {
  readonly over: string
  readonly revision: string
  transport(environment: Environment, module: Module): object
  readonly options?: object
}

const variants: readonly Variant[] = [
  { over: 'http', revision: '2026-07-28', transport: ({ url }) => ({ type: 'http', url }) },
  {
    over: 'http, sessions',
    revision: '2025-11-25',
    transport: ({ url }) => ({ type: 'http', url }),
    options: { protocolVersionDiscovery: false },
  },
  {
    over: 'sse',
    revision: '2025-11-25',
    transport: ({ url }) => ({ type: 'sse', url: url.replace('/mcp', '/sse') }),
  },
  {
    over: 'stdio',
    revision: '2026-07-28',
    // Without this option it treats a server that starts in more than a second as a legacy server.
    transport: ({ command: [command, ...args] }, module) =>
      Object.assign(new module.Experimental_StdioMCPTransport({ command, args }), {
        waitsForProtocolVersionDiscovery: true,
      }),
  },
]

export const aiSdk: readonly ThirdParty[] = variants.map((variant) => ({
  package: '@ai-sdk/mcp',
  is: 'client',
  over: variant.over,
  async run(check, environment) {
    const module = await load<Module>('@ai-sdk/mcp', '@ai-sdk/mcp/mcp-stdio')
    const problems: Error[] = []
    const client = await module.createMCPClient({
      transport: variant.transport(environment, module),
      capabilities: { elicitation: {} },
      onUncaughtError: (problem: Error) => void problems.push(problem),
      ...variant.options,
    })
    client.onElicitationRequest(module.ElicitationRequestSchema, () => ({
      action: 'accept',
      content: { name: 'Ada' },
    }))
    await check('agrees on a revision', async () => {
      assert.equal(client.initializeResult.protocolVersion, variant.revision)
    })
    await checkTools(check, client)
    await checkOtherFeatures(check, client)
    await check('reports no errors', async () => {
      const all = problems.map(({ message }) => message)
      assert.ok(all.length === 0, `expected no errors, got ${all.join('; ')}`)
    })
    await client.close()
  },
}))

async function checkTools(check: Check, client: Client): Promise<void> {
  const tools = await client.tools()
  const call = async (name: string, args = {}) =>
    tools[name]?.execute(args, { toolCallId: '1', messages: [] }) ?? assert.fail(`there is no tool ${name}`)
  await check('calls tools', async () => {
    assert.deepEqual((await call('add', { a: 2, b: 3 })).structuredContent, { sum: 5 })
    assert.equal((await call('slow')).content[0]?.text, 'made it')
  })
  await check('receives the error result of a failed tool', async () => {
    assert.equal((await call('fail')).isError, true)
  })
  await check('accepts a form', async () => {
    const { content } = await call('ask', { message: 'Who?' })
    assert.deepEqual(JSON.parse(content[0]?.text ?? ''), { action: 'accept', content: { name: 'Ada' } })
  })
  await check('receives an error for an unknown tool', async () => {
    await assert.rejects(client.callTool({ name: 'nothing' }), /Unknown tool/)
  })
}

async function checkOtherFeatures(check: Check, client: Client): Promise<void> {
  await check('lists and reads resources', async () => {
    const { resources, nextCursor } = await client.listResources()
    assert.equal(resources[0]?.uri, 'note://1')
    assert.equal(typeof nextCursor, 'string')
    assert.equal((await client.readResource({ uri: 'note://1' })).contents[0]?.text, 'Note 1')
  })
  await check('reads prompts and completes their arguments', async () => {
    const { messages } = await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } })
    assert.equal(messages[0]?.content.text, 'Greet Ada, as you like')
    const ref = { type: 'ref/prompt', name: 'greet' }
    const { completion } = await client.complete({ ref, argument: { name: 'name', value: 'A' } })
    assert.deepEqual(completion.values, ['Ada', 'Alan'])
  })
}
