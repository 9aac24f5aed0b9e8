/** The reference server with all features, called by our client. */

import assert from 'node:assert/strict'
import { type Connector, connect } from '@mcpx/client'
import type { Task } from '@mcpx/protocol'
import { http } from '@mcpx/transport-http/client'
import { spawn } from '@mcpx/transport-stdio'
import { connectOurs } from '../clients/ours.ts'
import type { Driver } from '../driver.ts'
import { eventually, textOf } from '../feature.ts'
import { programOf, startListening } from './program.ts'
import type { Check, ThirdParty } from './third-party.ts'

const NAME = '@modelcontextprotocol/server-everything'
const TEXT = 'demo://resource/dynamic/text/1'

export const everythingOverStdio: ThirdParty = {
  package: NAME,
  is: 'server',
  over: 'stdio',
  async run(check) {
    const driver = await connectOurs({ transport: 'stdio', command: [process.execPath, programOf(NAME), 'stdio'] })
    await checkAll(check, driver)
    await driver.close()
    await checkTasks(check, spawn(process.execPath, [programOf(NAME), 'stdio'], { stderr: 'ignore' }))
  },
}

export const everythingOverHttp = overHttp('http', 'streamableHttp', '/mcp')
export const everythingOverSse = overHttp('sse', 'sse', '/sse')

function overHttp(over: string, mode: string, path: string): ThirdParty {
  return {
    package: NAME,
    is: 'server',
    over,
    async run(check) {
      const { port, close } = await startListening(programOf(NAME), [mode])
      try {
        const driver = await connectOurs({ transport: 'http', url: `http://127.0.0.1:${port}${path}` })
        await checkAll(check, driver)
        await driver.close()
        await checkTasks(check, http(`http://127.0.0.1:${port}${path}`))
      } finally {
        await close()
      }
    },
  }
}

async function checkAll(check: Check, driver: Driver): Promise<void> {
  await checkTools(check, driver)
  await checkInputRequests(check, driver)
  await checkResources(check, driver)
  await checkPrompts(check, driver)
}

async function checkTools(check: Check, driver: Driver): Promise<void> {
  await check('lists all tools, including those that need client capabilities', async () => {
    const names = (await driver.listTools()).map(({ name }) => name)
    for (const name of ['echo', 'get-sum', 'trigger-sampling-request', 'trigger-url-elicitation'])
      assert.ok(names.includes(name), name)
  })
  await check('calls a tool', async () => {
    assert.equal(textOf(await driver.callTool('get-sum', { a: 2, b: 3 })), 'The sum of 2 and 3 is 5.')
  })
  await check('receives structured content', async () => {
    const { structuredContent } = await driver.callTool('get-structured-content', { location: 'Chicago' })
    assert.deepEqual(structuredContent, { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 })
  })
  await check('receives images, annotations and links', async () => {
    const types = async (name: string, args = {}) =>
      (await driver.callTool(name, args)).content.map(({ type }) => type).join()
    assert.match(await types('get-tiny-image'), /image/)
    assert.equal(await types('get-annotated-message', { messageType: 'error', includeImage: true }), 'text,image')
    assert.equal(await types('get-resource-links', { count: 2 }), 'text,resource_link,resource_link')
    assert.equal(await types('get-resource-reference', { resourceType: 'Text', resourceId: 1 }), 'text,resource,text')
  })
  await check('receives progress', async () => {
    const pattern: number[] = []
    const args = { duration: 0.1, steps: 3 }
    const onProgress = ({ progress }: { progress: number }) => void pattern.push(progress)
    await driver.callTool('trigger-long-running-operation', args, { onProgress })
    assert.deepEqual(pattern, [1, 2, 3])
  })
  await check('receives an error for invalid arguments', async () => {
    assert.equal((await driver.callTool('get-sum', { a: 'two', b: 3 })).isError, true)
  })
}

async function checkInputRequests(check: Check, driver: Driver): Promise<void> {
  await check('accepts a form with defaults', async () => {
    const text = textOf(await driver.callTool('trigger-elicitation-request'))
    assert.match(text, /Name: Ada/)
    assert.match(text, /It was a dark and stormy night/)
  })
  await check('accepts a URL elicitation', async () => {
    const args = { url: 'https://x.example/', message: 'Go there' }
    assert.match(textOf(await driver.callTool('trigger-url-elicitation', args)), /completed the URL elicitation/)
  })
  await check('answers a sampling request', async () => {
    const args = { prompt: 'Hello', maxTokens: 10 }
    assert.match(textOf(await driver.callTool('trigger-sampling-request', args)), /You said: .*Hello/)
  })
  await check('answers a roots request', async () => {
    assert.match(textOf(await driver.callTool('get-roots-list')), /file:\/\/\/work/)
  })
}

/** The server uses the official SDK 1.x, which implements the tasks of revision 2025-11-25. */
async function checkTasks(check: Check, connector: Connector): Promise<void> {
  const forms: string[] = []
  const client = await connect(connector, {
    onElicit(ask) {
      forms.push(ask.message)
      return { action: 'accept', content: { interpretation: 'snake' } }
    },
  })
  const tool = 'simulate-research-query'
  await check('follows a task that asks the user', async () => {
    const states: (string | undefined)[] = []
    const onStatus = ({ statusMessage }: Task) => void states.push(statusMessage)
    const result = await client.callTool(tool, { topic: 'python', ambiguous: true }, { onStatus })
    assert.match(textOf(result), /Research Report: python \(snake\)/)
    assert.match(forms.join(), /"python" could have multiple interpretations/)
    assert.ok(states.includes('Gathering sources...'), states.join())
  })
  await check('returns to a task, and cancels another', async () => {
    const [first, second] = await Promise.all(
      ['one', 'two'].map((topic) => client.callTool(tool, { topic }, { task: 'handle' })),
    )
    assert.ok(first !== undefined && second !== undefined)
    assert.equal((await first.status()).status, 'working')
    await second.cancel()
    await assert.rejects(second.result(), { name: 'TaskError', reason: 'cancelled' })
    assert.match(textOf(await client.task(first.id).result()), /Research Report: one/)
  })
  await client.close()
}

async function checkResources(check: Check, driver: Driver): Promise<void> {
  await check('lists and reads resources', async () => {
    assert.ok((await driver.listResources()).length > 0)
    assert.equal((await driver.listTemplates()).length, 2)
    const [first] = (await driver.readResource(TEXT)).contents
    assert.match(String(first && 'text' in first && first.text), /plaintext resource/)
  })
  await check('receives updates and log messages', async () => {
    const stop = await driver.watch(TEXT)
    await driver.callTool('toggle-subscriber-updates')
    await eventually('an update', () => driver.received.updated.includes(TEXT))
    await eventually('a log message', () =>
      driver.received.logs.some(({ data }) => String(data).includes('Received Subscribe Resource request')),
    )
    await driver.callTool('toggle-subscriber-updates')
    await stop()
  })
}

async function checkPrompts(check: Check, driver: Driver): Promise<void> {
  await check('lists and reads prompts', async () => {
    assert.ok((await driver.listPrompts()).some(({ name }) => name === 'args-prompt'))
    const { messages } = await driver.getPrompt('args-prompt', { city: 'Oslo' })
    assert.deepEqual(messages[0]?.content, { type: 'text', text: "What's weather in Oslo?" })
  })
  await check('completes with the context of other arguments', async () => {
    const { completion } = await driver.complete({
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'name', value: 'A' },
      context: { arguments: { department: 'Engineering' } },
    })
    assert.deepEqual(completion.values, ['Alice'])
  })
  await check('sets the log level and pings', async () => {
    await driver.setLogLevel('error')
    await driver.ping()
  })
}
