/** What the values of keywords must be that hold no subschemas. */

import type { Shape } from '../node.ts'

type Allows = (value: unknown) => boolean

const isString: Allows = (value) => typeof value === 'string'

export const isSetOf = (value: unknown, allows: Allows): boolean =>
  Array.isArray(value) && value.every(allows) && new Set(value).size === value.length

export const text: Shape = ['a string', isString]
export const number: Shape = ['a number', Number.isFinite]
export const size: Shape = [
  'an integer that is not negative',
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
]
export const anything: Shape = ['', () => true]
/** Names of properties, each once. */
export const names = ['a list of different strings', (value: unknown) => isSetOf(value, isString)] as const
