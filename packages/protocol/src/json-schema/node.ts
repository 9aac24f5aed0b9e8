/** A schema that was read: its keywords with their subschemas, and the check that they make. */

import type { JsonSchemaLimits } from './limits.ts'
import type { Check } from './run.ts'

export interface CompilationOptions {
  readonly limits: Readonly<JsonSchemaLimits>
  readonly assertFormats: boolean
  readonly assertPatterns: boolean
}

export interface Node {
  readonly keywords: Keywords
  /** The URI that references in it are relative to. Nothing for `true` and `false`. */
  readonly base?: string
  /** Set when the whole document was read, for references lead anywhere in it. */
  test: Check
}

/** The members of an object in a schema. */
export type Members<T> = readonly (readonly [name: string, value: T])[]

/** What other keywords look at. Those that a dialect does not have are not there. */
export interface Keywords {
  /** What all references of the schema lead to. */
  $ref?: readonly Node[]
  then?: Node
  else?: Node
  properties?: Members<Node>
  patternProperties?: Members<Node>
  additionalProperties?: Node
  prefixItems?: readonly Node[]
  items?: Node | readonly Node[]
  additionalItems?: Node
  minContains?: number
  maxContains?: number
  [keyword: string]: unknown
}

/** Makes the check of a keyword. Nothing, where another keyword of the schema does its work. */
export type Maker<Value> = (value: Value, keywords: Keywords, options: CompilationOptions) => Check | undefined

/** How the value of a keyword holds subschemas, or what it must be and which values are so. */
export type Shape = 'one' | 'many' | 'map' | readonly [must: string, allows: (value: unknown) => boolean]

/** What there is to know of a keyword: beside its shape what it checks, and the one dialect that has it. */
export type Keyword = readonly [shape: Shape, make?: Maker<never> | undefined, only?: '2020-12' | 'draft-07']

export type Family = Readonly<Record<string, Keyword>>
