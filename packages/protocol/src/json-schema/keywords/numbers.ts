/** The keywords that are about numbers. */

import type { Family } from '../node.ts'
import { assertion } from './assertions.ts'
import { number } from './shapes.ts'

const isNumber = (value: unknown) => typeof value === 'number'

const bounded = (words: string, fits: (value: number, limit: number) => boolean) =>
  assertion(isNumber, fits, (limit: number) => `expected ${words.replace('#', String(limit))}`)

export const numbers: Family = {
  minimum: [number, bounded('# or more', (value, limit) => value >= limit)],
  maximum: [number, bounded('# or less', (value, limit) => value <= limit)],
  exclusiveMinimum: [number, bounded('more than #', (value, limit) => value > limit)],
  exclusiveMaximum: [number, bounded('less than #', (value, limit) => value < limit)],
  multipleOf: [
    ['a number above 0', (value) => Number.isFinite(value) && (value as number) > 0],
    bounded('a multiple of #', isMultiple),
  ],
}

/** As decimal numbers, which is what JSON has: 0.07 is a multiple of 0.01. */
function isMultiple(value: number, factor: number): boolean {
  if (!Number.isFinite(value)) return false
  if (Number.isSafeInteger(value) && Number.isSafeInteger(factor)) return value % factor === 0
  const [digits, exponent] = decimalOf(value)
  const [factorDigits, factorExponent] = decimalOf(factor)
  const least = Math.min(exponent, factorExponent)
  return (digits * 10n ** BigInt(exponent - least)) % (factorDigits * 10n ** BigInt(factorExponent - least)) === 0n
}

/** The number as whole digits times a power of ten. */
function decimalOf(value: number): [digits: bigint, exponent: number] {
  const [, whole = '', fraction = '', exponent] = /(-?\d+)\.?(\d*)e(.+)/.exec(value.toExponential()) ?? []
  return [BigInt(whole + fraction), Number(exponent) - fraction.length]
}
