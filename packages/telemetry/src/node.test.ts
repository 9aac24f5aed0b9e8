import { AsyncLocalStorage } from 'node:async_hooks'
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { connect } from '@mcpx/client'
import type { Server } from '@mcpx/server'
import { serveHttp } from '@mcpx/transport-http/node'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CHANNELS, diagnostics, type MessageEvent, type WorkEvent } from './node.ts'
import { createSdk } from './otel.fixture.ts'
import { createShop, REVISIONS } from './rig.fixture.ts'

function listen(name: string, listener: (event: unknown) => void): void {
  subscribe(name, listener)
  onTestFinished(() => void unsubscribe(name, listener))
}

async function connectShop(revision: (typeof REVISIONS)[number], change: (shop: Server) => void = () => {}) {
  const shop = createShop(createSdk().tracer, { telemetry: diagnostics() })
  change(shop)
  const client = await connect(shop, {
    era: revision,
    telemetry: diagnostics(),
    onElicit: () => ({ action: 'decline' }),
  })
  onTestFinished(() => client.close())
  return client
}

describe.each(REVISIONS)('in %s', (revision) => {
  it('each message is an event at its start and at its end', async () => {
    const seen: [string, MessageEvent, unknown][] = []
    const client = await connectShop(revision)
    for (const name of [CHANNELS.sendStart, CHANNELS.receiveStart, CHANNELS.receiveEnd, CHANNELS.sendEnd]) {
      listen(name, (event) => void seen.push([name, event as MessageEvent, (event as MessageEvent).outcome]))
    }
    await client.callTool('search', { q: 'a' })
    expect(seen.map(([name]) => name)).toEqual([
      'mcpx:send:start',
      'mcpx:receive:start',
      'mcpx:receive:end',
      'mcpx:send:end',
    ])
    const [[, sent, before], [, received]] = seen as [(typeof seen)[0], (typeof seen)[0]]
    expect(before).toBeUndefined()
    expect(sent.message).toMatchObject({ side: 'client', method: 'tools/call', isRequest: true, revision })
    expect(received.message).toMatchObject({ side: 'server', params: { name: 'search' } })
    expect(sent.id).toBe(received.id)
    expect(sent.outcome?.result).toMatchObject({ content: [{ text: 'found a' }] })
    expect(sent.duration).toBeGreaterThan(received.duration ?? Number.POSITIVE_INFINITY)
    expect(seen[3]?.[1]).toBe(sent)
  })

  it('errors, calls and questions are events, too', async () => {
    const failed: unknown[] = []
    const work: WorkEvent[] = []
    const client = await connectShop(revision)
    listen(CHANNELS.receiveEnd, (event) => void failed.push((event as MessageEvent).outcome?.error))
    listen(CHANNELS.workEnd, (event) => void work.push(event as WorkEvent))
    await expect(client.callTool('none')).rejects.toThrow()
    await client.callTool('book')
    expect(failed[0]).toMatchObject({ code: -32602 })
    const kinds = work.map(({ work: { kind, method } }) => `${kind} ${method}`)
    expect(kinds).toEqual(
      revision === '2025-11-25'
        ? ['call tools/call', 'call tools/call']
        : ['call tools/call', 'input elicitation/create', 'call tools/call'],
    )
  })
})

it('the end of a session is an event', async () => {
  const ended: unknown[] = []
  listen(CHANNELS.sessionEnd, (event) => void ended.push(event))
  const client = await connectShop('2025-11-25')
  await client.close()
  await expect.poll(() => ended).toHaveLength(2)
  expect(ended).toContainEqual({
    side: 'client',
    revision: '2025-11-25',
    network: undefined,
    duration: expect.any(Number),
    error: undefined,
  })
})

it('a refused request is an event', async () => {
  const refused: unknown[] = []
  listen(CHANNELS.refuse, (event) => void refused.push(event))
  const { url, close } = await serveHttp(createShop(createSdk().tracer, { telemetry: diagnostics() }), { port: 0 })
  onTestFinished(close)
  await fetch(url, { method: 'POST' })
  expect(refused).toEqual([
    { status: 415, network: expect.objectContaining({ transport: 'tcp', address: '127.0.0.1' }) },
  ])
})

it('a bound store is available to the handler', async () => {
  const storage = new AsyncLocalStorage<string>()
  const start = channel(CHANNELS.receiveStart)
  start.bindStore(storage, (event) => (event as MessageEvent).message.method)
  onTestFinished(() => void start.unbindStore(storage))
  let seen: string | undefined
  const client = await connectShop('2026-07-28', (shop) => {
    shop.tool('store', {}, () => {
      seen = storage.getStore()
      return ''
    })
  })
  await client.callTool('store')
  expect(seen).toBe('tools/call')
})
