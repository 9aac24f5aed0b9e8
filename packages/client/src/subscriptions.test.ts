import type { Change } from '@mcpx/protocol'
import { describe, expect, it, vi } from 'vitest'
import { modernServer } from '../test/listened-server.ts'
import { connect } from './connect.ts'
import { proxy } from './proxy.ts'

describe('a client that hears of changes', () => {
  it('listens anew when the server has ended the stream in good order, and all counts as changed [C-093]', async () => {
    const { server, open, tell } = modernServer()
    const heard: Change[] = []
    const problems: Error[] = []
    await using client = await connect(server, {
      onChange: (change) => heard.push(change),
      onReport: (problem) => problems.push(problem),
    })
    await client.subscribe('a:/1')
    await expect.poll(() => open.size).toBe(1)
    for (const [id, { end }] of open) {
      open.delete(id)
      end()
    }
    await expect
      .poll(() => heard, { timeout: 3_000 })
      .toEqual(
        expect.arrayContaining([{ kind: 'resource', uri: 'a:/1' }, { kind: 'tools' }]), // biome-ignore format: one line
      )
    heard.length = 0
    tell('resources/updated', { uri: 'a:/1' })
    await expect.poll(() => heard).toEqual([{ kind: 'resource', uri: 'a:/1' }])
    expect(server.asked('subscriptions/listen').length).toBeLessThanOrEqual(3)
    expect(problems).toEqual([])
  })

  it('counts all as changed too where somebody wants more before it has listened anew', async () => {
    const { server, open } = modernServer()
    const heard: Change[] = []
    await using client = await connect(server, { onChange: (change) => heard.push(change) })
    await client.subscribe('a:/1')
    await expect.poll(() => open.size).toBe(1)
    const [first] = open.values()
    open.clear()
    first?.end()
    await new Promise((resolve) => setTimeout(resolve, 20))
    await client.subscribe('b:/2')
    expect(open.size).toBe(1)
    await expect
      .poll(() => heard)
      .toEqual(expect.arrayContaining([{ kind: 'resource', uri: 'a:/1' }, { kind: 'tools' }]))
  })

  it('goes on where the server ends the next stream before it has confirmed it', async () => {
    const { server, open, refuse } = modernServer()
    const heard: Change[] = []
    await using client = await connect(server, { onChange: (change) => heard.push(change) })
    await client.subscribe('a:/1')
    await expect.poll(() => open.size).toBe(1)
    const [first] = open.values()
    open.clear()
    refuse(1)
    first?.end()
    await expect.poll(() => heard, { timeout: 4_000 }).toContainEqual({ kind: 'resource', uri: 'a:/1' })
  })

  it('leaves no stream behind that was wanted by a proxy for a moment', async () => {
    const { server, open } = modernServer()
    await using client = await connect(server)
    const handler = proxy(client)
    for (let n = 0; n < 20; n++) handler.changes?.(() => {})()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(open.size).toBe(0)
  })

  it('leaves no timer behind when the client of a proxy is closed', async () => {
    const { server, open } = modernServer()
    const client = await connect(server)
    proxy(client).changes?.(() => {})
    await expect.poll(() => open.size).toBe(1)
    vi.useFakeTimers()
    try {
      await client.close()
      await vi.advanceTimersByTimeAsync(0)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('waits longer and longer where each stream is ended at once, until it is closed', async () => {
    vi.useFakeTimers()
    try {
      const { server, open } = modernServer()
      const problems: Error[] = []
      const client = await connect(server, { onChange: () => {}, onReport: (problem) => problems.push(problem) })
      const endAll = async (ms: number) => {
        for (let passed = 0; passed < ms; passed += 100) {
          await vi.advanceTimersByTimeAsync(100)
          for (const { end } of open.values()) end()
          open.clear()
        }
        return server.asked('subscriptions/listen').length
      }
      expect(await endAll(10_000)).toBeLessThanOrEqual(6)
      const count = await endAll(60_000)
      expect(count).toBeLessThanOrEqual(10)
      await client.close()
      expect(await endAll(120_000)).toBe(count)
      expect(vi.getTimerCount()).toBe(0)
      expect(problems).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })
})
