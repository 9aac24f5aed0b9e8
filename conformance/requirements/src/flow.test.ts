import { createServer, timeout } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { createFullServer } from './full-server.ts'
import { closeAll, connectRawClient, KEY, meta, turn } from './raw-client.ts'

afterEach(closeAll)

const MARKS = { progressToken: 'p', [`${KEY}logLevel`]: 'debug' }

/** A tool that waits, then sends progress and a log message, and records its cancellation. */
function createWaitingServer() {
  const state = { proceed: () => {}, aborted: false, done: false }
  const server = createServer({ name: 's', version: '1' }).tool('wait', {}, async (_, ctx) => {
    ctx.signal.addEventListener('abort', () => {
      state.aborted = true
    })
    await new Promise<void>((resolve) => {
      state.proceed = resolve
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
    'is sent with the token %j, only increasing, and not without a token [S-090]',
    async (progressToken) => {
      const client = connectRawClient(createFullServer())
      await client.ask('tools/call', { name: 'work', _meta: meta() })
      expect(client.notificationMethods()).toEqual([])
      await client.ask('tools/call', { name: 'work', _meta: meta({}, { progressToken }) })
      const notificationMethods = client.received.flatMap((each) => ('method' in each ? [each.params] : []))
      expect(notificationMethods).toEqual(
        [1, 2, 3].map((progress) => ({ progressToken, progress, total: 3, message: 'working' })),
      )
    },
  )

  it('is sent before the response and not afterwards [S-091]', async () => {
    let later = (): unknown => undefined
    const server = createServer({ name: 's', version: '1' }).tool('t', {}, async (_, ctx) => {
      later = () => ctx.progress(2)
      await ctx.progress(1)
      return 'x'
    })
    const client = connectRawClient(server)
    await client.ask('tools/call', { name: 't', _meta: meta({}, MARKS) })
    expect(client.received.map((each) => 'method' in each)).toEqual([true, false])
    await later()
    await turn()
    expect(client.received).toHaveLength(2)
  })
})

describe('a cancellation', () => {
  it('aborts the signal, and no further messages of the request are sent [S-093]', async () => {
    const { server, state } = createWaitingServer()
    const client = connectRawClient(server)
    client.send({ id: 9, method: 'tools/call', params: { name: 'wait', _meta: meta({}, MARKS) } })
    await turn()
    client.send({ method: 'notifications/cancelled', params: { requestId: 9, reason: 'enough' } })
    await turn()
    expect(state.aborted).toBe(true)
    state.proceed()
    await turn()
    expect(state.done).toBe(true)
    expect(client.received).toEqual([])
  })

  it.each([
    undefined,
    {},
    { requestId: null },
    { requestId: {} },
    { requestId: 99 },
    { requestId: '9' },
    { requestId: 1 },
  ])('of an unknown request is ignored: %j [S-094]', async (params) => {
    const { server, state } = createWaitingServer()
    const client = connectRawClient(server)
    await client.call('tools/list')
    client.send({ id: 9, method: 'tools/call', params: { name: 'wait', _meta: meta() } })
    await turn()
    client.send({ method: 'notifications/cancelled', ...(params !== undefined && { params }) })
    await turn()
    state.proceed()
    expect(await client.responseTo(9)).toHaveProperty('result')
    expect(state.aborted).toBe(false)
    expect(client.received).toHaveLength(2)
  })
})

describe('a timeout', () => {
  it('can be set for each request, and progress does not extend it [S-095]', async () => {
    const server = createServer({ name: 's', version: '1' })
      .tool('busy', {}, async (_, ctx) => {
        for (let done = 1; !ctx.signal.aborted; done++) {
          await ctx.progress(done)
          await turn(5)
        }
        return ''
      })
      .use(timeout(({ params }) => (params.name === 'busy' ? 30 : undefined)))
    const { result } = await connectRawClient(server).ask('tools/call', { name: 'busy', _meta: meta({}, MARKS) })
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('30 ms') }] })
  })
})
