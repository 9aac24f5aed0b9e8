import type { Change, Context, JsonObject } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { modernServer } from '../test/listened-server.ts'
import { scriptedServer } from '../test/scripted-server.ts'
import { connect } from './connect.ts'
import { proxy } from './proxy.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const ctx = {} as unknown as Context
const stuck = new Promise(() => {})

/** A proxy of a modern server, and the URIs that its streams follow. */
async function feed(timeout?: number) {
  const fixture = modernServer()
  const client = await connect(fixture.server, { timeout })
  const handler = proxy(client)
  const on = async (uri: string) => handler.subscribe?.({ uri }, ctx)
  const off = async (uri: string) => handler.unsubscribe?.({ uri }, ctx)
  const followed = () => [...fixture.open.values()].map(({ filter }) => filter.resourceSubscriptions)
  return { ...fixture, handler, on, off, followed, [Symbol.asyncDispose]: () => client.close() }
}

describe('the changes of a proxy', () => {
  it('end for several subscribers at the same time', async () => {
    await using rig = await feed()
    for (const uri of ['a:/1', 'a:/2', 'a:/3']) await rig.on(uri)
    await Promise.all(['a:/1', 'a:/2', 'a:/3'].map(rig.off))
    await expect.poll(() => rig.open.size).toBe(0)
  })

  it('end when the last listener and the last subscriber leave together', async () => {
    await using rig = await feed()
    const stop = rig.handler.changes?.(() => {})
    await rig.on('a:/1')
    const left = rig.off('a:/1')
    stop?.()
    await left
    await expect.poll(() => rig.open.size).toBe(0)
  })

  it('end with the last subscriber, without an answer of the server', async () => {
    await using rig = await feed(200)
    await rig.on('a:/1')
    rig.hold(stuck)
    await rig.off('a:/1')
    await expect.poll(() => rig.open.size).toBe(0)
  })

  it('no longer include a resource without subscribers, even if the server did not confirm that', async () => {
    await using rig = await feed(100)
    rig.handler.changes?.(() => {})
    await rig.on('a:/1')
    rig.hold(stuck)
    await expect(rig.off('a:/1')).rejects.toMatchObject({ reason: 'timeout' })
    rig.hold(undefined)
    await rig.on('b:/1')
    await expect.poll(rig.followed).toEqual([['b:/1']])
  })

  it('keep a resource of one subscriber although another one failed to subscribe', async () => {
    await using rig = await feed(150)
    rig.handler.changes?.(() => {})
    await pause(20)
    rig.hold(stuck)
    const first = rig.on('a:/1')
    await pause(10)
    const left = rig.off('a:/1')
    const second = rig.on('a:/1')
    await pause(20)
    rig.hold(undefined)
    await expect(first).rejects.toMatchObject({ reason: 'timeout' })
    await Promise.all([left, second])
    await rig.on('a:/1')
    await rig.off('a:/1')
    await pause(20)
    expect(rig.followed()).toEqual([['a:/1']])
  })
})

it('a notification of a legacy server is reported once while another resource is subscribed to', async () => {
  let tell: (name: string, params?: JsonObject) => void = () => {}
  let held: Promise<void> | undefined
  const server = scriptedServer('2025-11-25', {
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
    answers: {
      async 'resources/subscribe'({ exchange }) {
        tell = (name, params) => void exchange.notify(`notifications/${name}`, params)
        await held
        return {}
      },
      'resources/unsubscribe': () => ({}),
    },
  })
  const heard: Change[] = []
  await using client = await connect(server, { onChange: (change) => heard.push(change) })
  await client.subscribe('a:/1')
  let confirm = () => {}
  held = new Promise<void>((resolve) => (confirm = resolve))
  const subscribed = client.subscribe('b:/2')
  await pause(20)
  for (const uri of ['a:/1', 'b:/2']) tell('resources/updated', { uri })
  tell('tools/list_changed')
  confirm()
  await subscribed
  await pause(20)
  expect(heard.map((change) => ('uri' in change ? change.uri : change.kind)).sort()).toEqual(['a:/1', 'b:/2', 'tools'])
})
