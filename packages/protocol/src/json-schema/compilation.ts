/** Turns a schema into a check, or refuses it. */

import type { JsonSchema } from '../ports/json-schema.ts'
import { dialectOf } from './dialects.ts'
import { checkOf } from './keywords.ts'
import type { CompilationOptions, Node } from './node.ts'
import { memberOf } from './places.ts'
import { type Reading, readSchema } from './reading.ts'
import { refuseRecursion } from './recursion.ts'
import { followReferences } from './references.ts'

/** What references in a document without an `$id` are relative to. No other document can have this URI. */
const noBase = 'json-schema:///'

export function compileSchema(schema: JsonSchema, options: CompilationOptions): Node {
  const reading: Reading = {
    options,
    dialect: dialectOf(memberOf(schema, '$schema'), ''),
    nodes: new Map(),
    names: { places: new Map(), dynamicAnchors: new Map() },
    references: [],
  }
  const root = readSchema(schema, { place: '', base: noBase, around: [], keyword: '' }, reading)
  followReferences(schema, reading)
  refuseRecursion(reading)
  for (const node of reading.nodes.values()) if (node.base) node.test = checkOf(node.keywords, options)
  return root
}
