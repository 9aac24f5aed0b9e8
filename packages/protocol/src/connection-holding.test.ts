import { describe, expect, it } from 'vitest'
import { ask, bare, note, turn } from './connection.fixture.ts'
import type { Responder } from './exchange.ts'
import { resultMessage } from './messages.ts'

/** Answers each question after so many ms, and holds the clocks meanwhile. */
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

describe('clocks that are held', () => {
  it('stand still while a question of the peer is answered, and go on where they were [C-101]', async () => {
    const { duplex, far } = bare({ responder: slowly(120) })
    const begun = performance.now()
    const call = duplex.request('m', {}, { timeout: 60, maxTimeout: 60 }).catch((error) => error)
    await far.send(ask('q', 'elicitation/create'))
    expect(await call).toMatchObject({ reason: 'timeout' })
    expect(performance.now() - begun).toBeGreaterThan(170)
  })

  it('let the answer through', async () => {
    const { duplex, far } = bare({ responder: slowly(80) })
    const call = duplex.request('m', {}, { timeout: 40 })
    await far.send(ask('q', 'elicitation/create'))
    await turn(60)
    await far.send(resultMessage(1, { done: true }))
    expect(await call).toEqual({ done: true })
  })

  it('go on when the last of several questions is answered', async () => {
    const { duplex, far } = bare({ responder: slowly(80) })
    const begun = performance.now()
    const call = duplex.request('m', {}, { timeout: 40 }).catch((error) => error)
    await far.send(ask('q', 'elicitation/create'))
    await turn(40)
    await far.send(ask('r', 'elicitation/create'))
    expect(await call).toMatchObject({ reason: 'timeout' })
    expect(performance.now() - begun).toBeGreaterThan(150)
  })

  it('are those of the requests that wait, not of those that come later', async () => {
    const { duplex, far } = bare({ responder: slowly(200) })
    await far.send(ask('q', 'elicitation/create'))
    await turn()
    await expect(duplex.request('m', {}, { timeout: 40 })).rejects.toMatchObject({ reason: 'timeout' })
  })

  it('begin anew with progress, as others do', async () => {
    const { duplex, far } = bare({ responder: slowly(80) })
    const begun = performance.now()
    const call = duplex.request('m', {}, { timeout: 60, onNotification: () => {} }).catch((error) => error)
    await turn(40)
    await far.send(ask('q', 'elicitation/create'))
    await far.send(note('notifications/progress', { progressToken: 1, progress: 1 }))
    expect(await call).toMatchObject({ reason: 'timeout' })
    expect(performance.now() - begun).toBeGreaterThan(170)
  })

  it('can be cancelled all the same', async () => {
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
