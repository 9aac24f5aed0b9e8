/** A call that reports progress and ends after the client has received it. */

import type { CallOptions, Driver } from './driver.ts'
import { eventually, textOf } from './feature.ts'

type Step = Parameters<NonNullable<CallOptions['onProgress']>>[0]

let tags = 0

export async function stepsOf(driver: Driver): Promise<{ steps: Step[]; answer: string }> {
  const tag = `steps ${++tags}`
  const steps: Step[] = []
  const call = driver.callTool('steps', { tag }, { onProgress: (step) => void steps.push(step) })
  call.catch(() => {})
  try {
    await eventually('three steps', () => steps.length >= 3)
  } finally {
    await driver.callTool('release', { tag })
  }
  return { steps, answer: textOf(await call) }
}
