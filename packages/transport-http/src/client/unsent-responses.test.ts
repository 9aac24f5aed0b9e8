/** A server that sends requests faster than it accepts the responses. */

import { type Responder, resultMessage } from '@mcpx/protocol'
import { delay } from '@mcpx/testing'
import { expect, it } from 'vitest'
import { http } from '../client.ts'

const CHUNKS = 50
const PINGS = 100

const json = (value: object) =>
  new Response(JSON.stringify(value), { headers: { 'content-type': 'application/json', 'mcp-session-id': 's' } })

it('does not count as silent while its responses wait', async () => {
  let gets = 0
  const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
  const fetch = async (_input: string | URL | Request, init: RequestInit = {}) => {
    if (init.method === 'GET') gets += 1
    if (init.method !== 'POST') return new Response(null, { status: 405 })
    const { id, method } = JSON.parse(String(init.body))
    if (method === 'initialize') return json({ jsonrpc: '2.0', id, result: {} })
    if (method === undefined) await delay(100)
    if (method !== 'tools/call') return new Response(null, { status: 202 })
    const pings = Array.from({ length: 50 }, (_, n) => event({ id: `${n}`, method: 'ping' })).join('')
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode(`id: 1\n${pings}`))
        await delay(10)
        controller.enqueue(new TextEncoder().encode(': comment\n\n'))
        await delay(10)
        controller.enqueue(new TextEncoder().encode(event({ id, result: { done: true } })))
        controller.close()
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
  const responder: Responder = { respond: (message) => ('id' in message ? resultMessage(message.id, {}) : undefined) }
  const options = { fetch, keepAlive: 50, reconnect: { attempts: 1 } }
  const connection = await http('http://localhost/mcp', options).connect({ responder, onWarning: () => {} })
  await connection.request('initialize', { protocolVersion: '2025-11-25' })
  expect(await connection.request('tools/call', {})).toEqual({ done: true })
  expect(gets).toBe(0)
  await connection.close()
})

it('is read no further while 16 responses are being sent, and receives all of them', async () => {
  const encoder = new TextEncoder()
  const accepting: (() => void)[] = []
  const accepted = new Set<unknown>()
  let pulled = 0
  const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
  const chunkOf = (id: unknown) => {
    const isLast = pulled === CHUNKS
    const pings = Array.from({ length: PINGS }, (_, n) => event({ id: `${pulled}-${n}`, method: 'ping' })).join('')
    return encoder.encode(isLast ? event({ id, result: { done: true } }) : pings)
  }
  const fetch = async (_input: string | URL | Request, init: RequestInit = {}) => {
    if (init.method !== 'POST') return new Response(null, { status: 405 })
    const { id, method } = JSON.parse(String(init.body))
    if (method === 'initialize') return json({ jsonrpc: '2.0', id, result: {} })
    if (method === undefined) {
      await new Promise<void>((resolve) => void accepting.push(resolve))
      accepted.add(id)
    }
    if (method !== 'tools/call') return new Response(null, { status: 202 })
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          controller.enqueue(chunkOf(id))
          if (pulled++ === CHUNKS) controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
  const responder: Responder = { respond: (message) => ('id' in message ? resultMessage(message.id, {}) : undefined) }
  const connection = await http('http://localhost/mcp', { fetch }).connect({ responder, onWarning: () => {} })
  await connection.request('initialize', { protocolVersion: '2025-11-25' })
  const call = connection.request('tools/call', {})
  await delay(100)
  expect(accepting).toHaveLength(16)
  expect(pulled).toBeLessThan(10)
  const accept = setInterval(() => {
    for (const resolve of accepting.splice(0)) resolve()
  })
  expect(await call).toEqual({ done: true })
  while (accepted.size < CHUNKS * PINGS) await delay(5)
  clearInterval(accept)
  await connection.close()
})

it('does not keep a call alive after its timeout', async () => {
  const ping = new TextEncoder().encode(
    `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n\n`.repeat(40),
  )
  let hasEnded = false
  const fetch = async (_input: string | URL | Request, init: RequestInit = {}) => {
    if (init.method !== 'POST') return new Response(null, { status: 405 })
    const { id, method } = JSON.parse(String(init.body))
    if (method === 'initialize') return json({ jsonrpc: '2.0', id, result: {} })
    if (method === undefined) return new Promise<Response>(() => {})
    if (method !== 'tools/call') return new Response(null, { status: 202 })
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(ping),
      cancel() {
        hasEnded = true
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
  const responder: Responder = { respond: (message) => ('id' in message ? resultMessage(message.id, {}) : undefined) }
  const connection = await http('http://localhost/mcp', { fetch }).connect({ responder, onWarning: () => {} })
  await connection.request('initialize', { protocolVersion: '2025-11-25' })
  await expect(connection.request('tools/call', {}, { timeout: 50 })).rejects.toMatchObject({ reason: 'timeout' })
  await delay(20)
  expect(hasEnded).toBe(true)
  await connection.close()
})
