import { testServer } from '@mcpx/testing/server'
import '@mcpx/testing/vitest'
import { http } from '@mcpx/transport-http/client'
import { expect, test } from 'vitest'
import { app } from './app.ts'
import { server } from './server.ts'

// Each test runs with an old and a new client, in memory and over HTTP, without a port.
const transports = { http: () => http('http://127.0.0.1/mcp', { fetch: async (url, init) => app.request(url, init) }) }

test('converts a length', () =>
  testServer(server, { transports }, async ({ client }) => {
    const result = await client.callTool('convert_length', { value: 2, from: 'kilometer', to: 'meter' })
    expect(result).toHaveStructuredContent({ value: 2000 })
  }))

test('refuses a negative length', () =>
  testServer(server, { transports }, async ({ client }) => {
    const result = await client.callTool('convert_length', { value: -1, from: 'foot', to: 'meter' })
    expect(result).toHaveFailed('cannot be negative')
  }))

test('refuses clients that call another host', async () => {
  const response = await app.request('http://evil.example/mcp', { method: 'POST' })
  expect(response.status).toBe(403)
})

test('is healthy', async () => {
  expect(await (await app.request('/health')).text()).toBe('ok')
})
