import { PassThrough } from 'node:stream'
import { connect } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { serveStdio } from '@mcpx/transport-stdio'
import { expect, it, onTestFinished } from 'vitest'

const shop = () => createServer({ name: 'shop', version: '1.0.0' }).tool('buy', {}, () => 'bought')

/** A drain time that is much longer than the expected duration. */
const LONG = 5_000

it('a draining HTTP server ends subscriptions with their results at once', async () => {
  const server = await serveHttp(shop(), { port: 0 })
  const client = await connect(http(server.url), { era: 'modern' })
  onTestFinished(() => client.close())
  const changes = client.listen({ toolsListChanged: true })
  await changes.ready
  const iteration = (async () => {
    for await (const change of changes) expect(change).toBeUndefined()
  })()
  const began = performance.now()
  await server.drain(LONG)
  expect(performance.now() - began).toBeLessThan(LONG / 2)
  await iteration
})

it('a closing stdio server ends subscriptions with their results and a cancellation [S-075]', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const serving = serveStdio(shop(), { input, output, drainTimeout: LONG })
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { notifications: { toolsListChanged: true }, _meta: meta }
  input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'subscriptions/listen', params })}\n`)
  let text = ''
  output.on('data', (chunk: Buffer) => {
    text += String(chunk)
  })
  await expect.poll(() => text).toContain('acknowledged')
  const began = performance.now()
  await serving.close()
  expect(performance.now() - began).toBeLessThan(LONG / 2)
  const lines = text.trim().split('\n').slice(1)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { id: 7, result: { resultType: 'complete' } },
    { method: 'notifications/cancelled', params: { requestId: 7 } },
  ])
})
