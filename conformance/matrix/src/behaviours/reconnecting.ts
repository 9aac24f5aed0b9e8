/** What a cut leaves of calls, of streams and of who listens. */

import type { Client } from '@mcpx/client'
import type { Change, Connector, Context, Responder } from '@mcpx/protocol'
import { createServer, type Server } from '@mcpx/server'
import { caught, settled } from '@mcpx/testing'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { moment } from '../moment.ts'
import { textOf } from '../results.ts'
import type { Rig } from '../rig.ts'

/** A client whose connection can be cut, and how often it made one. */
async function cuttable({ reach, connectOver }: Rig, server: Responder) {
  const { connector, cut } = reach(server)
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
    /** @param meanwhile what happens before the client can have come back. */
    async cut(meanwhile = () => {}) {
      await cut()
      meanwhile()
      await settled()
    },
  }
}

const numbers = () => createServer({ name: 'cut', version: '1' }).tool('t', {}, () => 'x') as unknown as Server

/** Whether the streams of calls have events that can be asked for again: in sessions, from this revision on. */
const canResume = ({ carrier, revision }: Rig) => carrier === 'HTTP' && revision === '2025-11-25'

export const reconnecting: Behaviours = {
  async 'the next call after the connection was cut is answered, over a new one where one carries all'(rig) {
    const { client, counts, cut } = await cuttable(rig, numbers())
    expect(textOf(await client.callTool('t'))).toBe('x')
    await cut()
    expect(textOf(await client.callTool('t'))).toBe('x')
    expect(client.revision).toBe(rig.revision)
    expect(counts.made).toBe(rig.oneByOne ? 1 : 2)
  },

  async 'calls that waited when the connection was cut are lost, not repeated'(rig) {
    const [started, stopped] = [moment<Context>(), moment<unknown>()]
    let calls = 0
    const server = numbers()
    server.tool('wait', {}, (_args, ctx) => {
      calls += 1
      ctx.signal.addEventListener('abort', () => stopped.happen(ctx.signal.reason))
      started.happen(ctx)
      return new Promise(() => {})
    })
    const { client, cut } = await cuttable(rig, server)
    const waiting = caught(() => client.callTool('wait'))
    const { signal } = await rig.soon('the call', started.come)
    await cut()
    expect(await rig.soon('the end of the call', waiting)).toMatchObject({
      name: 'ConnectionError',
      reason: rig.oneByOne ? 'unreachable' : 'closed',
      retryable: false,
    })
    // On the older wires it is no wish of the client that a response ends.
    const runsOn = rig.oneByOne && rig.era === 'legacy'
    if (!runsOn) {
      expect(await rig.soon('that the tool is told', stopped.come)).toMatchObject({
        name: 'ConnectionError',
        reason: 'closed',
      })
    }
    expect(textOf(await client.callTool('t'))).toBe('x')
    expect(signal.aborted).toBe(!runsOn)
    expect(calls).toBe(1)
  },

  async 'a call that spoke before the cut goes on where its stream can be had again, and is lost elsewhere'(rig) {
    const [cutNow, heardNow, goOn, goOnAgain] = [moment<void>(), moment<void>(), moment<void>(), moment<void>()]
    let calls = 0
    const server = numbers()
    server.tool('talk', {}, async (_args, ctx) => {
      calls += 1
      await ctx.progress(1)
      await goOn.come
      await ctx.progress(2)
      await ctx.progress(3)
      await goOnAgain.come
      await ctx.progress(4)
      return 'talked'
    })
    const { client, cut } = await cuttable(rig, server)
    const seen: number[] = []
    const onProgress = ({ progress }: { progress: number }) => {
      seen.push(progress)
      if (progress === 1) cutNow.happen()
      if (progress === 3) heardNow.happen()
    }
    const call = client.callTool('talk', {}, { onProgress }).catch((error: unknown) => error)
    await rig.soon('the first progress', cutNow.come)
    await cut(() => goOn.happen())
    if (canResume(rig)) {
      await rig.soon('what was said while the stream was cut', heardNow.come)
      goOnAgain.happen()
      expect(await call).toMatchObject({ content: [{ text: 'talked' }] })
      expect(seen).toEqual([1, 2, 3, 4])
    } else {
      const reason = rig.oneByOne ? 'unreachable' : 'closed'
      expect(await rig.soon('the end of the call', call)).toMatchObject({ name: 'ConnectionError', reason })
      goOnAgain.happen()
      expect(seen).toEqual([1])
    }
    expect(textOf(await client.callTool('t'))).toBe('x')
    expect(calls).toBe(1)
  },

  async 'a call that lets its client go is answered all the same'(rig) {
    const heardOne = moment()
    const server = numbers()
    server.tool('slow', {}, async (_args, ctx) => {
      await ctx.progress(1)
      ctx.closeStream()
      await heardOne.come
      await settled()
      await ctx.progress(2)
      return 'done'
    })
    const { connector, fetched } = rig.reach(server)
    const client = await rig.connectOver(connector)
    const seen: unknown[] = []
    const onProgress = ({ progress }: { progress: number }) => {
      seen.push(progress)
      heardOne.happen()
    }
    seen.push(textOf(await rig.soon('the answer', client.callTool('slow', {}, { onProgress }))))
    expect(seen).toEqual([1, 2, 'done'])
    // One for the stream of what is said unasked, and one to come back for the rest of the call.
    const streams = rig.era === 'modern' ? 0 : canResume(rig) ? 2 : 1
    if (fetched !== undefined) expect(fetched.filter((method) => method === 'GET')).toHaveLength(streams)
  },

  async 'who listens goes on after the cut, and what is watched counts as changed'(rig) {
    const server = numbers()
    server.resource('note://a', { subscribe: true }, 'a').resource('note://b', { subscribe: true }, 'b')
    const { client, counts, cut } = await cuttable(rig, server)
    const listening = client.listen({ toolsListChanged: true, resourceSubscriptions: ['note://a'] })
    await rig.soon('that the server listens', listening.ready)
    await settled()
    await cut()
    server.resourceUpdated('note://a')
    const next = async () => (await rig.soon('a change', listening.next())).value as Change
    const counted = [await next(), await next()]
    expect(counted.map(({ kind }) => kind).sort()).toEqual(['resource', 'tools'])
    server.resourceUpdated('note://b')
    server.resourceUpdated('note://a')
    expect(await next()).toEqual({ kind: 'resource', uri: 'note://a' })
    expect(counts.made).toBe(rig.oneByOne ? 1 : 2)
    listening.close()
  },
}
