/** Cut connections: calls, streams and subscriptions. */

import type { Client } from '@mcpx/client'
import type { Change, Connector, Context, Responder } from '@mcpx/protocol'
import { createServer, type Server } from '@mcpx/server'
import { catchError, waitForTasks } from '@mcpx/testing'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { deferred } from '../deferred.ts'
import { textOf } from '../results.ts'
import type { Rig } from '../rig.ts'

/** A client whose connection can be cut, with the number of its connections. */
async function connectCuttable({ open, connectOver }: Rig, server: Responder) {
  const { connector, cut } = open(server)
  const counts = { made: 0 }
  const counting: Connector = {
    ...connector,
    connect(options) {
      counts.made += 1
      return connector.connect(options)
    },
  }
  const client: Client = await connectOver(counting)
  return {
    client,
    counts,
    /** @param meanwhile called before the client can reconnect. */
    async cut(meanwhile = () => {}) {
      await cut()
      meanwhile()
      await waitForTasks()
    },
  }
}

const numbers = () => createServer({ name: 'cut', version: '1' }).tool('t', {}, () => 'x') as unknown as Server

/** Whether streams of calls can be resumed. This is possible in sessions. */
const canResume = ({ transport, era }: Rig) => transport === 'HTTP' && era === 'legacy'

export const reconnecting: Behaviours = {
  async 'the next call after a cut succeeds, on a new connection if all calls share one'(rig) {
    const { client, counts, cut } = await connectCuttable(rig, numbers())
    expect(textOf(await client.callTool('t'))).toBe('x')
    await cut()
    expect(textOf(await client.callTool('t'))).toBe('x')
    expect(client.revision).toBe(rig.revision)
    expect(counts.made).toBe(rig.separateRequests ? 1 : 2)
  },

  async 'pending calls fail when the connection is cut, and are not repeated'(rig) {
    const [started, stopped] = [deferred<Context>(), deferred<unknown>()]
    let calls = 0
    const server = numbers()
    server.tool('wait', {}, (_args, ctx) => {
      calls += 1
      ctx.signal.addEventListener('abort', () => stopped.resolve(ctx.signal.reason))
      started.resolve(ctx)
      return new Promise(() => {})
    })
    const { client, cut } = await connectCuttable(rig, server)
    const waiting = catchError(() => client.callTool('wait'))
    const { signal } = await rig.waitFor('the call', started.promise)
    await cut()
    expect(await rig.waitFor('the end of the call', waiting)).toMatchObject({
      name: 'ConnectionError',
      reason: rig.separateRequests ? 'unreachable' : 'closed',
      retryable: false,
    })
    // Over legacy HTTP a closed response does not cancel the call.
    const keepsRunning = rig.separateRequests && rig.era === 'legacy'
    if (!keepsRunning) {
      expect(await rig.waitFor('the abort signal of the tool', stopped.promise)).toMatchObject({
        name: 'ConnectionError',
        reason: 'closed',
      })
    }
    expect(textOf(await client.callTool('t'))).toBe('x')
    expect(signal.aborted).toBe(!keepsRunning)
    expect(calls).toBe(1)
  },

  async 'a call with a cut stream is resumed if the stream supports it, and fails otherwise'(rig) {
    const [firstProgress, thirdProgress, proceed, finish] = [
      deferred<void>(),
      deferred<void>(),
      deferred<void>(),
      deferred<void>(),
    ]
    let calls = 0
    const server = numbers()
    server.tool('talk', {}, async (_args, ctx) => {
      calls += 1
      await ctx.progress(1)
      await proceed.promise
      await ctx.progress(2)
      await ctx.progress(3)
      await finish.promise
      await ctx.progress(4)
      return 'talked'
    })
    const { client, cut } = await connectCuttable(rig, server)
    const seen: number[] = []
    const onProgress = ({ progress }: { progress: number }) => {
      seen.push(progress)
      if (progress === 1) firstProgress.resolve()
      if (progress === 3) thirdProgress.resolve()
    }
    const call = client.callTool('talk', {}, { onProgress }).catch((error: unknown) => error)
    await rig.waitFor('the first progress', firstProgress.promise)
    await cut(() => proceed.resolve())
    if (canResume(rig)) {
      await rig.waitFor('the progress that was sent while the stream was cut', thirdProgress.promise)
      finish.resolve()
      expect(await call).toMatchObject({ content: [{ text: 'talked' }] })
      expect(seen).toEqual([1, 2, 3, 4])
    } else {
      const reason = rig.separateRequests ? 'unreachable' : 'closed'
      expect(await rig.waitFor('the end of the call', call)).toMatchObject({ name: 'ConnectionError', reason })
      finish.resolve()
      expect(seen).toEqual([1])
    }
    expect(textOf(await client.callTool('t'))).toBe('x')
    expect(calls).toBe(1)
  },

  async 'a call that closes its stream returns its result'(rig) {
    const firstProgress = deferred()
    const server = numbers()
    server.tool('slow', {}, async (_args, ctx) => {
      await ctx.progress(1)
      ctx.closeStream()
      await firstProgress.promise
      await waitForTasks()
      await ctx.progress(2)
      return 'done'
    })
    const { connector, fetched } = rig.open(server)
    const client = await rig.connectOver(connector)
    const seen: unknown[] = []
    const onProgress = ({ progress }: { progress: number }) => {
      seen.push(progress)
      firstProgress.resolve()
    }
    seen.push(textOf(await rig.waitFor('the answer', client.callTool('slow', {}, { onProgress }))))
    expect(seen).toEqual([1, 2, 'done'])
    // One GET opens the stream of notifications, another GET resumes the stream of the call. Servers do not close the
    // streams of older revisions.
    const isResumed = canResume(rig) && rig.revision === '2025-11-25'
    const streams = rig.era === 'modern' ? 0 : isResumed ? 2 : 1
    if (fetched !== undefined) expect(fetched.filter((method) => method === 'GET')).toHaveLength(streams)
  },

  async 'a subscription survives a cut, and its targets count as changed'(rig) {
    const server = numbers()
    server.resource('note://a', { subscribe: true }, 'a').resource('note://b', { subscribe: true }, 'b')
    const { client, counts, cut } = await connectCuttable(rig, server)
    const listening = client.listen({ toolsListChanged: true, resourceSubscriptions: ['note://a'] })
    await rig.waitFor('the acknowledgement of the subscription', listening.ready)
    await waitForTasks()
    await cut()
    server.resourceUpdated('note://a')
    const next = async () => (await rig.waitFor('a change', listening.next())).value as Change
    const assumedChanges = [await next(), await next()]
    expect(assumedChanges.map(({ kind }) => kind).sort()).toEqual(['resource', 'tools'])
    server.resourceUpdated('note://b')
    server.resourceUpdated('note://a')
    expect(await next()).toEqual({ kind: 'resource', uri: 'note://a' })
    expect(counts.made).toBe(rig.separateRequests ? 1 : 2)
    listening.close()
  },
}
