import type { Change } from '@mcpx/protocol'
import { describe, expect, it, vi } from 'vitest'
import { modernServer } from '../test/listened-server.ts'
import { connect } from './connect.ts'

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
