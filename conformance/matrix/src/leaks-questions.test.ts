/** Answered questions of legacy calls leave no memory and no timer, neither in the server nor in the client. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Client, type ClientOptions, connect } from '@mcpx/client'
import { createServer, type Server } from '@mcpx/server'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { expect, it, onTestFinished, vi } from 'vitest'

vi.setConfig({ testTimeout: 120_000 })

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/**
 * The allowed growth per question in bytes; less is noise. A timer that is not cleared retains its request, about 3,000
 * bytes.
 */
const MOST_BYTES = 1_500
const QUESTIONS = 400

const server = createServer({ name: 'asks', version: '1' }).tool('ask', {}, async (_args, ctx) => {
  const { action } = await ctx.elicit('ok', { message: 'Go on?', schema: { type: 'object', properties: {} } })
  return action
}) as unknown as Server

const options: ClientOptions = { era: 'legacy', onElicit: () => ({ action: 'accept', content: {} }) }

const transports: Readonly<Record<string, () => Promise<Client>>> = {
  'a channel': () => connect(server, options),
  async 'HTTP without stored events'() {
    const { url, close } = await serveHttp(server, { port: 0, sessions: { events: false } })
    onTestFinished(() => close())
    return connect(http(url), options)
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

it.each(Object.keys(transports))('answered questions over %s leave nothing', async (name) => {
  const client = await (transports[name] as () => Promise<Client>)()
  onTestFinished(() => client.close())
  const askMany = async () => {
    for (let n = 0; n < QUESTIONS; n++) await client.callTool('ask')
  }
  await askMany()
  const before = await heap()
  await askMany()
  expect(((await heap()) - before) / QUESTIONS).toBeLessThan(MOST_BYTES)
})
