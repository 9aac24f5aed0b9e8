/** Measures how work grows with the size of its input: by the processor time of this thread, with room for noise. */

import { expect } from 'vitest'

const SMALL = 60_000
const LARGE = 960_000
/** Linear time grows by 16, quadratic time by 256. */
const MOST_GROWTH = 64
/** Less is noise, in ms. */
const NOISE = 100

/** Strings that are expensive for expressions that look at a text more than once. */
export const adversarialTexts: Readonly<Record<string, (size: number) => string>> = {
  letters: (size) => 'a'.repeat(size),
  'letters and a mark': (size) => `${'a'.repeat(size)}!`,
  slashes: (size) => `note://${'/'.repeat(size)}`,
  'parts of a template': (size) => `note://${'/x'.repeat(size / 2)}`,
  percents: (size) => `note://a/${'%'.repeat(size)}`,
  spaces: (size) => ' '.repeat(size),
  'dots and at signs': (size) => `${'a.'.repeat(size / 4)}${'@'.repeat(size / 2)}`,
  'characters of three bytes': (size) => '\u4e16'.repeat(size / 3),
}

/** Requires that work grows no faster than the size of its input, which is 60,000 and 960,000. */
export async function expectLinearWork(work: (size: number) => unknown): Promise<void> {
  const large = await timeOf(() => work(LARGE))
  if (large < NOISE) return
  const small = await timeOf(() => work(SMALL))
  expect(large / small, `${small} ms for ${SMALL} bytes, ${large} ms for ${LARGE}`).toBeLessThan(MOST_GROWTH)
}

/** Returns the least processor time of a few tries, in ms. */
async function timeOf(work: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let times = 0; times < 3; times++) {
    const before = process.threadCpuUsage()
    await work()
    const { user, system } = process.threadCpuUsage(before)
    least = Math.min(least, (user + system) / 1_000)
    if (least < NOISE) break
  }
  return least
}
