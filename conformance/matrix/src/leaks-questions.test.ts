/** Answered questions of calls leave no memory and no timer, neither in the server nor in the client. */

import { getActiveResourcesInfo } from 'node:process'
import { PassThrough } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Client, type ClientOptions, connect } from '@mcpx/client'
import { createServer, type Server } from '@mcpx/server'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { overStreams, serveStdio } from '@mcpx/transport-stdio'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

vi.setConfig({ testTimeout: 120_000 })

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/**
 * The allowed growth per question in bytes; less is noise. A timer that is not cleared retains its request, about 3,000
 * bytes.
 */
const MOST_BYTES = 1_500
const QUESTIONS = 400

const question = { message: 'Continue?', schema: { type: 'object', properties: {} } } as const
const leaked: ReturnType<typeof setTimeout>[] = []

const server = createServer({ name: 'asks', version: '1' })
  .tool('ask', {}, async (_args, ctx) => (await ctx.elicit('ok', question)).action)
  .tool('leak', {}, async (_args, ctx) => {
    const { action } = await ctx.elicit('ok', question)
    leaked.push(setTimeout(() => ctx.client, 60_000))
    return action
  }) as unknown as Server

const transports: Readonly<Record<string, (options: ClientOptions) => Promise<Client>>> = {
  'a channel': (options) => connect(server, options),
  async 'HTTP without stored events'(options) {
    const { url, close } = await serveHttp(server, { port: 0, sessions: { events: false } })
    onTestFinished(() => close())
    return connect(http(url), options)
  },
  async stdio(options) {
    const [toServer, toClient] = [new PassThrough(), new PassThrough()]
    const serving = serveStdio(server, { input: toServer, output: toClient, drainTimeout: 0 })
    onTestFinished(() => serving.close())
    return connect(
      overStreams(() => ({ input: toClient, output: toServer })),
      options,
    )
  },
}

async function heap(): Promise<number> {
  const sizes: number[] = []
  for (let times = 0; times < 4; times++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    collectGarbage()
    sizes.push(process.memoryUsage().heapUsed)
  }
  return Math.min(...sizes)
}

const timers = () => getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

/** Returns the bytes and the timers that each call of a tool leaves. */
async function measureLeaks(client: Client, tool: string) {
  const askMany = async () => {
    for (let n = 0; n < QUESTIONS; n++) await client.callTool(tool)
  }
  await askMany()
  const timersBefore = timers()
  const before = await heap()
  await askMany()
  return { bytes: ((await heap()) - before) / QUESTIONS, timers: (timers() - timersBefore) / QUESTIONS }
}

describe.each(['legacy', 'modern'] as const)('answered questions in the %s era', (era) => {
  const options: ClientOptions = { era, onElicit: () => ({ action: 'accept', content: {} }) }

  it.each(Object.entries(transports))('over %s leave nothing', async (_, open) => {
    const client = await open(options)
    onTestFinished(() => client.close())
    expect(client.era).toBe(era)
    const left = await measureLeaks(client, 'ask')
    expect(left.bytes).toBeLessThan(MOST_BYTES)
    // Connections have a few timers, questions none.
    expect(left.timers).toBeLessThan(0.1)
  })

  it('are measured precisely enough to find a timer that holds the context of its call', async () => {
    const client = await connect(server, options)
    onTestFinished(() => client.close())
    const left = await measureLeaks(client, 'leak')
    for (const timer of leaked.splice(0)) clearTimeout(timer)
    expect(left.bytes).toBeGreaterThan(MOST_BYTES)
    expect(left.timers).toBeGreaterThan(0.9)
  })
})
