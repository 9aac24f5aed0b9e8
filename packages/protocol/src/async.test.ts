import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { pause } from './async.ts'

it('a pause ends after its time, and removes its listener from the signal', async () => {
  const { signal } = new AbortController()
  const begun = performance.now()
  await pause(30, signal)
  expect(performance.now() - begun).toBeGreaterThan(25)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

it.each(['before', 'during'])('a pause rejects when the signal is aborted %s it', async (when) => {
  const stop = new AbortController()
  const reason = new Error('enough')
  if (when === 'before') stop.abort(reason)
  const pausing = pause(10_000, stop.signal)
  stop.abort(reason)
  await expect(pausing).rejects.toBe(reason)
})

it('a pause of Infinity lasts until the signal is aborted', async () => {
  const stop = new AbortController()
  const reason = new Error('enough')
  const pausing = pause(Number.POSITIVE_INFINITY, stop.signal)
  setTimeout(() => stop.abort(reason), 20)
  await expect(pausing).rejects.toBe(reason)
})
