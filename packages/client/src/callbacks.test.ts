import type { Change } from '@mcpx/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { scriptedServer } from '../test/scripted-server.ts'
import { connect } from './connect.ts'

const unhandled: unknown[] = []
const note = (error: unknown) => void unhandled.push(error)
beforeEach(() => void process.on('unhandledRejection', note))
afterEach(async () => {
  await new Promise((resolve) => setTimeout(resolve, 5))
  process.off('unhandledRejection', note)
  expect(unhandled.splice(0)).toEqual([])
})

const failures: Record<string, () => never> = {
  throw: () => {
    throw new Error('callback')
  },
  // The types accept an async function where nothing awaits it.
  reject: (() => Promise.reject(new Error('callback'))) as never,
}

function talkative() {
  return scriptedServer('2025-11-25', {
    capabilities: { tools: { listChanged: true }, logging: {} },
    answers: {
      async 'tools/call'({ params, exchange }) {
        const { progressToken } = (params._meta ?? {}) as { progressToken?: number }
        const progress = (done: number) => exchange.notify('notifications/progress', { progressToken, progress: done })
        await exchange.notify('notifications/message', { level: 'error', data: 'x' })
        if (progressToken !== undefined) for (const done of [1, 2]) await progress(done)
        for (let count = 0; count < 2; count++) await exchange.notify('notifications/tools/list_changed')
        return { content: [] }
      },
    },
  })
}

describe.each(Object.entries(failures))('callbacks that %s', (_how, fail) => {
  it('are reported as warnings and called again', async () => {
    const reports: Error[] = []
    const onChange = vi.fn<(change: Change) => void>(fail)
    const onLog = vi.fn(fail)
    await using client = await connect(talkative(), {
      era: 'legacy',
      onChange,
      onLog,
      onWarning: (problem) => void reports.push(problem),
    })
    await vi.waitFor(async () => {
      await client.callTool('t')
      expect(onChange).toHaveBeenCalled()
    })
    await vi.waitFor(() => expect(reports).toHaveLength(onChange.mock.calls.length + onLog.mock.calls.length))
    for (const each of [onChange, onLog]) each.mockClear()
    reports.length = 0
    const onProgress = vi.fn(fail)
    const onNotification = vi.fn(fail)
    await client.callTool('t', {}, { onProgress, onNotification })
    await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(2))
    expect([onLog, onProgress, onNotification].map(({ mock }) => mock.calls.length)).toEqual([1, 2, 2])
    await vi.waitFor(() => expect(reports.map(({ message }) => message)).toEqual(Array(7).fill('callback')))
  })

  it('have no effect when onWarning fails too', async () => {
    await using client = await connect(talkative(), {
      era: 'legacy',
      onChange: fail,
      onLog: fail,
      onWarning: fail,
    })
    expect(await client.callTool('t', {}, { onProgress: fail, onLog: fail })).toEqual({ content: [] })
  })
})
