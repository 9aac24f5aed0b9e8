import { catchError } from '@mcpx/testing'
import { expect, it } from 'vitest'
import { createRestartDelay, type RestartOptions } from './restart.ts'

async function timeToWait(options: RestartOptions | false, lives: readonly number[]): Promise<number> {
  const restart = createRestartDelay(options)
  for (const lived of lives) restart.exited(lived)
  const started = performance.now()
  await restart.wait()
  return performance.now() - started
}

it('has no delay before the first start and the first restart', async () => {
  expect(await timeToWait({ delay: 5_000 }, [])).toBeLessThan(1_000)
  expect(await timeToWait({ delay: 5_000 }, [1])).toBeLessThan(1_000)
})

it('doubles the delay with each further exit, up to a limit', async () => {
  expect(await timeToWait({ delay: 40 }, [1, 1])).toBeGreaterThan(35)
  expect(await timeToWait({ delay: 40 }, [1, 1, 1])).toBeGreaterThan(75)
  const most = await timeToWait({ delay: 40, maxDelay: 60 }, Array(20).fill(1))
  expect(most).toBeGreaterThan(55)
  expect(most).toBeLessThan(5_000)
})

it('starts again from the first delay after a healthy run', async () => {
  expect(await timeToWait({ delay: 5_000, healthyAfter: 100 }, [1, 1, 1, 100])).toBeLessThan(1_000)
})

it('can be disabled', async () => {
  expect(await timeToWait(false, [1, 1, 1, 1])).toBeLessThan(1_000)
})

it('rejects with the reason of the signal', async () => {
  const restart = createRestartDelay({ delay: 60_000, maxDelay: 60_000 })
  for (const lived of [1, 1]) restart.exited(lived)
  const controller = new AbortController()
  const waiting = catchError(() => restart.wait(controller.signal))
  controller.abort(new Error('closed'))
  expect(await waiting).toMatchObject({ message: 'closed' })
  for (const none of [restart, createRestartDelay(false)]) {
    expect(await catchError(() => none.wait(controller.signal))).toMatchObject({ message: 'closed' })
  }
})
