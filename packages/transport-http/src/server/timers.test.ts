import { expect, it } from 'vitest'
import { requestTurnOf } from './timers.ts'

it.each([1, 200])(
  'handles eight requests of %i callers at the same time, until each of them waits for something else than a promise',
  async (callers) => {
    let running = 0
    let most = 0
    async function handle(_: unknown, index: number): Promise<void> {
      await requestTurnOf(`${index % callers}`)
      running += 1
      most = Math.max(most, running)
      for (let job = 0; job < 100; job++) await Promise.resolve()
      running -= 1
    }
    await Promise.all(Array.from({ length: 200 }, handle))
    expect(most).toBe(8)
  },
)

it('handles the requests of callers in turn', async () => {
  const handled: string[] = []
  async function handle(caller: string): Promise<void> {
    await requestTurnOf(caller)
    handled.push(caller)
  }
  await Promise.all([...Array.from({ length: 200 }, () => handle('many')), handle('one'), handle('other')])
  expect(handled.indexOf('one')).toBe(1)
  expect(handled.indexOf('other')).toBe(2)
  expect(handled).toHaveLength(202)
})
