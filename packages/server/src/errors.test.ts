import type { Context } from '@mcpx/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Faults } from './errors.ts'

afterEach(() => vi.restoreAllMocks())

describe('a fault in user code', () => {
  it('goes to the console, with the id that the client sees, when nobody else listens', () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    const error = new Error('broken')
    const id = new Faults(undefined).report(error, undefined)
    expect(id).toMatch(/^[0-9a-f]{8}$/)
    expect(printed.mock.calls).toEqual([[`@mcpx/server: error ${id}:`, error]])
  })

  it('goes to whoever listens, and nowhere else', () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    const heard: unknown[][] = []
    const ctx = {} as Context
    const id = new Faults((...args) => void heard.push(args)).report('odd', ctx)
    expect(heard).toEqual([['odd', ctx, id, undefined]])
    expect(printed).not.toHaveBeenCalled()
  })

  it('does not go to the console when the caller has gone, which is why things fail then', () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    new Faults(undefined).report(new Error('gone'), { signal: AbortSignal.abort() } as Context)
    expect(printed).not.toHaveBeenCalled()
  })

  it('does no harm when its listener fails too', () => {
    const deaf = () => {
      throw new Error('deaf')
    }
    expect(new Faults(deaf).report(new Error('broken'), undefined)).toMatch(/^[0-9a-f]{8}$/)
  })

  it('does no harm when its listener fails only later', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    new Faults(async () => Promise.reject(new Error('deaf'))).report(new Error('broken'), undefined)
    await new Promise((resolve) => setTimeout(resolve, 5))
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })
})
