import { connect } from '@mcpx/client'
import { catchError } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { expect, it, vi } from 'vitest'

it('rejects a failed connect without waiting for the end of its session, which is still deleted', async () => {
  const methods: string[] = []
  const connector = http('http://peer.test/mcp', {
    async fetch(_input, init) {
      methods.push(init?.method ?? '')
      if (init?.method === 'DELETE') return new Promise<never>(() => {})
      const { id, method } = JSON.parse(String(init?.body)) as { id?: number; method: string }
      if (method !== 'initialize') return new Response(null, { status: 403 })
      const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'peer', version: '1' } }
      return Response.json({ jsonrpc: '2.0', id, result }, { headers: { 'mcp-session-id': 's-1' } })
    },
  })
  const begun = performance.now()
  expect(await catchError(() => connect(connector, { era: 'legacy' }))).toMatchObject({ status: 403 })
  expect(performance.now() - begun).toBeLessThan(1_000)
  await vi.waitFor(() => expect(methods).toEqual(['POST', 'POST', 'DELETE']))
})
