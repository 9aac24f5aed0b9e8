import { storeContract } from '@mcpx/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { durableObjectStore } from './index.ts'
import { type RunningWorker, startWorker } from './workerd.fixture.ts'

describe('a store in Durable Objects', () => {
  let worker: RunningWorker
  beforeAll(async () => {
    worker = await startWorker(new URL('worker.fixture.ts', import.meta.url), { STORE: 'TestStore' })
  })
  afterAll(() => worker?.stop())

  const request = async (name: string) => {
    const response = await fetch(`http://127.0.0.1:${worker.port}/?case=${encodeURIComponent(name)}`)
    return response.text()
  }

  const unreachable = durableObjectStore({ idFromName: () => '', get: () => ({ fetch: () => Promise.reject() }) })
  const cases = storeContract(() => unreachable, { openSecond: () => unreachable, interrupt: async () => {} })
  it.each(cases.map(({ name }) => name))('%s', async (name) => {
    expect(await request(name)).toBe('passed')
  })

  it('deletes everything when the time to live has passed, and stores nothing when it reads', async () => {
    expect(JSON.parse(await request('expiry'))).toEqual({
      stored: [0, 0, 0, 2, 2, 3, 1],
      used: [0, 0, 0, 2, 0, 0, 0],
      expired: [0, 0, 0, 0, 0, 0, 0],
    })
  })
})
