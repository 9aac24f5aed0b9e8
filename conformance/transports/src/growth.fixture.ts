/** Measures how work grows with the size of its input: by the processor time of this thread, with room for noise. */

import { expect } from 'vitest'

const KIB = 1024
/**
 * The work for each input is compared with the work for `PARTS` inputs that have the same number of characters in sum.
 */
const SIZES = [KIB, 16 * KIB, 256 * KIB, 1024 * KIB]
const PARTS = 16
/**
 * Work of less than this many ms is harmless, and is not measured exactly enough to be judged: some kernels count in steps of
 * 4 ms.
 */
const MEASURABLE = 100
/**
 * The largest ratio of the work for one input to the work for its parts: 1 if the work is linear, 16 if it is
 * quadratic.
 */
const MOST_GROWTH = 5

/** Strings that are expensive for regular expressions that read a string more than once. */
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

/** Requires that the work for one long input takes about as long as for short inputs of the same sum, up to 1 MB. */
export async function expectLinearWork(work: (size: number) => unknown): Promise<void> {
  // Begins with short inputs, so that quadratic work is found before it takes minutes.
  for (const size of SIZES) {
    const whole = await timeOf(() => work(size))
    if (whole < MEASURABLE) continue
    const growth = await growthOf(work, size, whole)
    // A garbage collection disturbs one measurement, rarely two.
    if (growth.ratio < MOST_GROWTH) continue
    const { ratio, text } = await growthOf(work, size, await timeOf(() => work(size)))
    expect(ratio, text).toBeLessThan(MOST_GROWTH)
  }
}

async function growthOf(work: (size: number) => unknown, size: number, whole: number) {
  const sum = await timeOf(async () => {
    for (let part = 0; part < PARTS; part++) await work(size / PARTS)
  })
  const text = `${whole} ms for ${size} bytes, ${sum} ms for ${PARTS} parts of ${size / PARTS}`
  return { ratio: whole / Math.max(sum, 1), text }
}

/** Returns the processor time, in ms. Work that is not harmless is measured twice. */
async function timeOf(work: () => unknown): Promise<number> {
  const first = await timeOnce(work)
  return first < MEASURABLE ? first : Math.min(first, await timeOnce(work))
}

async function timeOnce(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
