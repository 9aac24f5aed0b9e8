/** Which dialects of JSON Schema are understood. */

import { excerpt, refuse } from './schema-error.ts'

/** The dialects that `$schema` may name. Without `$schema` a schema is read as the first. */
export const SUPPORTED_DIALECTS = [
  'https://json-schema.org/draft/2020-12/schema',
  'http://json-schema.org/draft-07/schema#',
] as const

export type Dialect = '2020-12' | 'draft-07'

/** The dialect that a schema says it is written in, or the one given when it says nothing. */
export function dialectOf($schema: unknown, place: string, otherwise: Dialect = '2020-12'): Dialect {
  if ($schema === undefined) return otherwise
  const shown = excerpt(JSON.stringify($schema) ?? 'undefined', 100)
  const [, found] = /^"https?:\/\/json-schema\.org\/(draft\/2020-12|draft-07)\/schema#?"$/.exec(shown) ?? []
  if (found) return found === 'draft-07' ? found : '2020-12'
  const supported = SUPPORTED_DIALECTS.join(' and ')
  throw refuse('dialect', `${place}/$schema`, `the dialect ${shown} is not supported; supported are ${supported}`)
}
