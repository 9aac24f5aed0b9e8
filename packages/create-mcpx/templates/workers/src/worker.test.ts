import { connect } from '@mcpx/client'
import { testServer } from '@mcpx/testing/server'
import '@mcpx/testing/vitest'
import { http } from '@mcpx/transport-http/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { unstable_startWorker as startWorker } from 'wrangler'
import { server } from './server.ts'

// The worker as it is deployed: bundled by wrangler, and run by workerd.
let worker: Awaited<ReturnType<typeof startWorker>>
beforeAll(async () => {
  worker = await startWorker({
    config: 'wrangler.jsonc',
    dev: { server: { hostname: '127.0.0.1', port: 0 }, inspector: false, watch: false, logLevel: 'error' },
  })
}, 60_000)
afterAll(() => worker.dispose())

test.each(['modern', 'legacy'] as const)('converts a length for a %s client', async (era) => {
  await using client = await connect<typeof server>(http(new URL('/mcp', await worker.url)), { era })
  expect(await client.tools.convert_length({ value: 2, from: 'kilometer', to: 'meter' })).toEqual({ value: 2000 })
})

test('refuses clients that call another host', async () => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const response = await worker.fetch('http://evil.example/mcp', { method: 'POST', headers, body: '{}' })
  expect(response.status).toBe(403)
})

test('refuses a negative length', () =>
  testServer(server, async ({ client }) => {
    const result = await client.callTool('convert_length', { value: -1, from: 'foot', to: 'meter' })
    expect(result).toHaveFailed('cannot be negative')
  }))
