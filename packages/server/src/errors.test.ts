import type { Context } from '@mcpx/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Faults } from './errors.ts'

afterEach(() => vi.restoreAllMocks())

describe('an unexpected error in user code', () => {
  it('is logged to the console with the id that the client receives, without onError', () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    const error = new Error('broken')
    const id = new Faults(undefined).report(error, undefined)
    expect(id).toMatch(/^[0-9a-f]{8}$/)
    expect(printed.mock.calls).toEqual([[`@mcpx/server: error ${id}:`, error]])
  })

  it('is passed to onError only', () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    const heard: unknown[][] = []
    const ctx = {} as Context
    const id = new Faults((...args) => void heard.push(args)).report('odd', ctx)
    expect(heard).toEqual([['odd', ctx, id, undefined]])
    expect(printed).not.toHaveBeenCalled()
  })

  it('is not logged if the caller has disconnected', () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    new Faults(undefined).report(new Error('gone'), { signal: AbortSignal.abort() } as Context)
    expect(printed).not.toHaveBeenCalled()
  })

  it('is not passed to onError if it is the cancellation of the call, and only then', () => {
    const heard: unknown[] = []
    const faults = new Faults((error) => void heard.push(error))
    const reason = new Error('The client closed the connection')
    const ctx = { signal: AbortSignal.abort(reason) } as Context
    const own = new TypeError('x is not a function')
    for (const error of [
      reason,
      new DOMException('aborted', 'AbortError'),
      new Error('fetch', { cause: reason }),
      own,
    ]) {
      faults.report(error, ctx)
    }
    expect(heard).toEqual([own])
  })

  it('is handled if onError throws', () => {
    const deaf = () => {
      throw new Error('deaf')
    }
    expect(new Faults(deaf).report(new Error('broken'), undefined)).toMatch(/^[0-9a-f]{8}$/)
  })

  it('is handled if onError rejects later', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    new Faults(async () => Promise.reject(new Error('deaf'))).report(new Error('broken'), undefined)
    await new Promise((resolve) => setTimeout(resolve, 5))
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })
})
