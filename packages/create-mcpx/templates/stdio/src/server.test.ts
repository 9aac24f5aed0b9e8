import { testServer } from '@mcpx/testing/server'
import '@mcpx/testing/vitest'
import { expect, test } from 'vitest'
import { server } from './server.ts'

// testServer runs each test with an old and a new client.

test('converts a length', () =>
  testServer(server, async ({ client }) => {
    const result = await client.callTool('convert_length', { value: 2, from: 'kilometer', to: 'meter' })
    expect(result).toHaveStructuredContent({ value: 2000 })
  }))

test('refuses a negative length', () =>
  testServer(server, async ({ client }) => {
    const result = await client.callTool('convert_length', { value: -1, from: 'foot', to: 'meter' })
    expect(result).toHaveFailed('cannot be negative')
  }))

test('lists the units', () =>
  testServer(server, async ({ client }) => {
    const { contents } = await client.readResource('units://lengths')
    expect(contents).toMatchObject([{ text: expect.stringContaining('kilometer') }])
  }))
