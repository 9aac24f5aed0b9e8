import { describe, expect, it } from 'vitest'
import { ask, bare, note, turn } from './connection.fixture.ts'
import type { Responder } from './exchange.ts'
import { resultMessage } from './messages.ts'

/** Answers each input request after the given milliseconds, and pauses the timeouts meanwhile. */
function slowly(ms: number): Responder {
  return {
    async respond(message, exchange) {
      const release = exchange.hold?.()
      await turn(ms)
      release?.()
      release?.()
      return 'id' in message ? resultMessage(message.id, {}) : undefined
    },
  }
}

describe('paused timeouts', () => {
  it('pause while an input request of the peer is answered, and continue afterwards [C-101]', async () => {
    const { duplex, far } = bare({ responder: slowly(120) })
    const begun = performance.now()
    const call = duplex.request('m', {}, { timeout: 60, maxTimeout: 60 }).catch((error) => error)
    await far.send(ask('q', 'elicitation/create'))
    expect(await call).toMatchObject({ reason: 'timeout' })
    expect(performance.now() - begun).toBeGreaterThan(170)
  })

  it('do not delay the response', async () => {
    const { duplex, far } = bare({ responder: slowly(80) })
    const call = duplex.request('m', {}, { timeout: 40 })
    await far.send(ask('q', 'elicitation/create'))
    await turn(60)
    await far.send(resultMessage(1, { done: true }))
    expect(await call).toEqual({ done: true })
  })

  it('continue when the last of several input requests is answered', async () => {
    const { duplex, far } = bare({ responder: slowly(80) })
    const begun = performance.now()
    const call = duplex.request('m', {}, { timeout: 40 }).catch((error) => error)
    await far.send(ask('q', 'elicitation/create'))
    await turn(40)
    await far.send(ask('r', 'elicitation/create'))
    expect(await call).toMatchObject({ reason: 'timeout' })
    expect(performance.now() - begun).toBeGreaterThan(150)
  })

  it('are those of pending requests, not of later ones', async () => {
    const { duplex, far } = bare({ responder: slowly(200) })
    await far.send(ask('q', 'elicitation/create'))
    await turn()
    await expect(duplex.request('m', {}, { timeout: 40 })).rejects.toMatchObject({ reason: 'timeout' })
  })

  it('restart on progress', async () => {
    const { duplex, far } = bare({ responder: slowly(80) })
    const begun = performance.now()
    const call = duplex.request('m', {}, { timeout: 60, onNotification: () => {} }).catch((error) => error)
    await turn(40)
    await far.send(ask('q', 'elicitation/create'))
    await far.send(note('notifications/progress', { progressToken: 1, progress: 1 }))
    expect(await call).toMatchObject({ reason: 'timeout' })
    expect(performance.now() - begun).toBeGreaterThan(170)
  })

  it('do not prevent cancellation', async () => {
    const { duplex, far } = bare({ responder: slowly(50) })
    const stop = new AbortController()
    const call = duplex.request('m', {}, { signal: stop.signal }).catch((error) => error)
    await far.send(ask('q', 'elicitation/create'))
    await turn(10)
    stop.abort()
    expect(await call).toMatchObject({ reason: 'cancelled' })
    await turn(60)
    expect(duplex.load.pending).toBe(0)
  })
})
