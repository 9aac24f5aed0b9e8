/** Keywords whose cost the evaluator does not bound, put behind a condition that does. */

import { MAX_UNIQUE_ITEMS, MAX_UNIQUE_SCALARS } from './limits.ts'
import { LoweredSchema, type Meter, type Role } from './lowered-schema.ts'

/** Makes schemas that share one meter. */
export interface Maker {
  readonly meter: Meter
  readonly roles: Map<LoweredSchema, Role>
}

/** A schema that no value satisfies, and that stands for something that a problem can name. */
export function never({ meter, roles }: Maker, role: Role): LoweredSchema {
  const schema = new LoweredSchema(meter, { not: true })
  roles.set(schema, role)
  return schema
}

/** Tests a pattern on texts up to a length, and refuses longer ones. */
export function guardedPattern(maker: Maker, pattern: string, maxLength: number): LoweredSchema {
  const { meter } = maker
  return new LoweredSchema(meter, {
    if: new LoweredSchema(meter, { maxLength }),
    // biome-ignore lint/suspicious/noThenProperty: the keyword is called so
    then: new LoweredSchema(meter, { pattern }),
    else: never(maker, 'text too long'),
  })
}

/** Searches a list for duplicates, which takes time quadratic in its length, up to a length, and refuses longer ones. */
export function guardedUniqueItems(maker: Maker): LoweredSchema {
  const { meter } = maker
  const unique = new LoweredSchema(meter, { uniqueItems: true })
  const scalars = new LoweredSchema(meter, { type: ['string', 'number', 'boolean', 'null'] })
  return new LoweredSchema(meter, {
    if: new LoweredSchema(meter, { maxItems: MAX_UNIQUE_ITEMS }),
    // biome-ignore lint/suspicious/noThenProperty: the keyword is called so
    then: unique,
    else: new LoweredSchema(meter, {
      if: new LoweredSchema(meter, { maxItems: MAX_UNIQUE_SCALARS, items: scalars }),
      // biome-ignore lint/suspicious/noThenProperty: the keyword is called so
      then: unique,
      else: never(maker, 'too many items'),
    }),
  })
}

/** The formats that are asserted. The evaluator knows more, but one of those takes exponential time. */
const assertedFormats = new Set([
  'date',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'json-pointer',
  'regex',
  'relative-json-pointer',
  'time',
  'uri',
  'uri-reference',
  'uri-template',
  'uuid',
])

export function isAssertedFormat(name: string): boolean {
  return assertedFormats.has(name)
}
