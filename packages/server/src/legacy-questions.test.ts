import { createDuplex, resultMessage } from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { afterEach, expect, it, vi } from 'vitest'
import { oneTool, text } from './peers.fixture.ts'

afterEach(() => void vi.useRealTimers())

/** A client that has shaken hands and has not said that it is ready. */
async function connectUnready() {
  const asked: string[] = []
  const [near, far] = createChannelPair()
  createDuplex(far, { responder: oneTool(async (_, ctx) => text(await ctx.roots())) })
  const duplex = createDuplex(near, {
    responder: {
      respond(message) {
        asked.push(message.method)
        return 'id' in message ? resultMessage(message.id, { roots: [] }) : undefined
      },
    },
  })
  await duplex.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: { roots: {} },
    clientInfo: { name: 'slow', version: '1' },
  })
  return { asked, duplex, call: () => duplex.request('tools/call', { name: 't' }) }
}

it('a legacy server sends no input request before the client is ready [S-151]', async () => {
  const { asked, duplex, call } = await connectUnready()
  const answer = call()
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(asked).toEqual([])
  await duplex.notify('notifications/initialized')
  expect(await answer).toMatchObject({ content: [{ text: '[]' }] })
  expect(asked).toEqual(['roots/list'])
  await duplex.close()
})

it('a legacy server fails an input request if the client is not ready within two seconds [S-151]', async () => {
  const { asked, duplex, call } = await connectUnready()
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const answer = call().catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(await answer).toMatchObject({ code: -32600, message: expect.stringContaining('notifications/initialized') })
  expect(asked).toEqual([])
  vi.useRealTimers()
  await duplex.close()
})

it('a legacy server stops waiting if the client cancels its call', async () => {
  const { duplex } = await connectUnready()
  const abort = new AbortController()
  const answer = duplex.request('tools/call', { name: 't' }, { signal: abort.signal }).catch((error: unknown) => error)
  await new Promise((resolve) => setTimeout(resolve, 5))
  abort.abort()
  expect(await answer).toMatchObject({ reason: 'cancelled' })
  await duplex.close()
})
