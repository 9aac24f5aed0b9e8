import { createServer, timeout } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { createFullServer } from './full-server.ts'
import { closeAll, connectWire, KEY, meta, turn } from './wire.ts'

afterEach(closeAll)

const MARKS = { progressToken: 'p', [`${KEY}logLevel`]: 'debug' }

/** A tool that waits, then says what it can, and what it was told. */
function createWaitingServer() {
  const state = { go: () => {}, aborted: false, done: false }
  const server = createServer({ name: 's', version: '1' }).tool('wait', {}, async (_, ctx) => {
    ctx.signal.addEventListener('abort', () => {
      state.aborted = true
    })
    await new Promise<void>((resolve) => {
      state.go = resolve
    })
    await ctx.progress(1)
    await ctx.log.error('late')
    state.done = true
    return 'done'
  })
  return { server, state }
}

describe('progress', () => {
  it.each(['token', 7, 0])(
    'is told under the token %j, only forwards, and not without one [S-090]',
    async (progressToken) => {
      const wire = connectWire(createFullServer())
      await wire.ask('tools/call', { name: 'work', _meta: meta() })
      expect(wire.told()).toEqual([])
      await wire.ask('tools/call', { name: 'work', _meta: meta({}, { progressToken }) })
      const told = wire.heard.flatMap((each) => ('method' in each ? [each.params] : []))
      expect(told).toEqual([1, 2, 3].map((progress) => ({ progressToken, progress, total: 3, message: 'working' })))
    },
  )

  it('ends before the answer, and is not told afterwards [S-091]', async () => {
    let later = (): unknown => undefined
    const server = createServer({ name: 's', version: '1' }).tool('t', {}, async (_, ctx) => {
      later = () => ctx.progress(2)
      await ctx.progress(1)
      return 'x'
    })
    const wire = connectWire(server)
    await wire.ask('tools/call', { name: 't', _meta: meta({}, MARKS) })
    expect(wire.heard.map((each) => 'method' in each)).toEqual([true, false])
    await later()
    await turn()
    expect(wire.heard).toHaveLength(2)
  })
})

describe('a cancellation', () => {
  it('fires the signal, and nothing more is said of the request [S-093]', async () => {
    const { server, state } = createWaitingServer()
    const wire = connectWire(server)
    wire.send({ id: 9, method: 'tools/call', params: { name: 'wait', _meta: meta({}, MARKS) } })
    await turn()
    wire.send({ method: 'notifications/cancelled', params: { requestId: 9, reason: 'enough' } })
    await turn()
    expect(state.aborted).toBe(true)
    state.go()
    await turn()
    expect(state.done).toBe(true)
    expect(wire.heard).toEqual([])
  })

  it.each([
    undefined,
    {},
    { requestId: null },
    { requestId: {} },
    { requestId: 99 },
    { requestId: '9' },
    { requestId: 1 },
  ])('of nothing that runs is ignored: %j [S-094]', async (params) => {
    const { server, state } = createWaitingServer()
    const wire = connectWire(server)
    await wire.call('tools/list')
    wire.send({ id: 9, method: 'tools/call', params: { name: 'wait', _meta: meta() } })
    await turn()
    wire.send({ method: 'notifications/cancelled', ...(params !== undefined && { params }) })
    await turn()
    state.go()
    expect(await wire.answerTo(9)).toHaveProperty('result')
    expect(state.aborted).toBe(false)
    expect(wire.heard).toHaveLength(2)
  })
})

describe('a time limit', () => {
  it('can be set for each request, and progress does not move it [S-095]', async () => {
    const server = createServer({ name: 's', version: '1' })
      .tool('busy', {}, async (_, ctx) => {
        for (let done = 1; !ctx.signal.aborted; done++) {
          await ctx.progress(done)
          await turn(5)
        }
        return ''
      })
      .use(timeout(({ params }) => (params.name === 'busy' ? 30 : undefined)))
    const { result } = await connectWire(server).ask('tools/call', { name: 'busy', _meta: meta({}, MARKS) })
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('30 ms') }] })
  })
})
