/** Converts the schema of a tool's arguments to a schema that a model API accepts, and reports each change. */
import { describe } from '../checks.ts'
import {
  ANNOTATIONS,
  DIALECTS,
  type Dialect,
  type DialectRules,
  SCHEMA_KEYWORDS,
  SCHEMA_LIST_KEYWORDS,
  SCHEMA_MAP_KEYWORDS,
} from './dialects.ts'
import { isObject, isSame, isString, type JsonObject, listOf, objectOf, omit, typeOf } from './json.ts'
import { mergeAlternatives, mergeSchemas, typesOf, withoutOldTuple } from './merge.ts'
import { isDraft7, resolveReference } from './references.ts'
import { removeNulls } from './remove-nulls.ts'
import { renameProperties } from './rename-properties.ts'
import { checkStrictLimits, closeObject, NotStrict } from './strict.ts'

/** A difference between a schema and its converted form. */
export interface SchemaChange {
  /** The place in the original schema, as a JSON pointer. */
  readonly path: string
  /** The keyword that was changed or removed. */
  readonly keyword: string
  /**
   * The effect on the accepted values. `same`: no effect after `restore`. `wider`: the model may send values that the
   * tool does not accept; they are refused when the tool is called. `narrower`: the model cannot send some values that
   * the tool accepts.
   */
  readonly effect: 'same' | 'wider' | 'narrower'
  /** Describes the change. */
  readonly message: string
}

/** A schema that a model API accepts, and a function that converts arguments back. */
export interface FittedSchema {
  /** The schema for the model. */
  readonly schema: JsonObject & { readonly type: 'object' }
  /** Whether the schema follows the rules of the strict mode. If not, send it without strict mode. */
  readonly strict: boolean
  /** The differences to the original schema. */
  readonly changes: readonly SchemaChange[]
  /**
   * Converts arguments of the model to arguments of the tool: renames properties back, and removes `null` that stands
   * for a missing value.
   */
  restore(args: JsonObject): JsonObject
}

/** The longest schema that is converted, in characters of JSON. Model APIs already refuse much shorter schemas. */
const MAX_LENGTH = 200_000
/** The number of subschemas that one schema may have after its references are replaced. */
const MAX_SCHEMAS = 5_000
/** The number of parts of one `allOf`. */
const MAX_PARTS = 100
const MAX_DEPTH = 64
const MAX_NOTE = 200
const LOOKAROUND = /\(\?<?[=!]/

/**
 * Converts a schema of tool arguments to a dialect. Constraints that the dialect does not support are removed and
 * reported. A schema that a strict mode does not support is converted for use without strict mode.
 *
 * @throws TypeError for a dialect that does not exist, and for a value that is not a JSON Schema
 */
export function fitSchema(schema: object, dialect: Dialect): FittedSchema {
  checkArguments(schema, dialect)
  const rules = DIALECTS[dialect]
  const original = schema as JsonObject
  try {
    return new Fitting(original, rules).fitRoot()
  } catch (error) {
    if (!(error instanceof NotStrict) || rules.otherwise === undefined) throw error
    const { path, keyword, message } = error
    const fitted = fitSchema(schema, rules.otherwise)
    return { ...fitted, changes: [{ path, keyword, effect: 'same', message }, ...fitted.changes] }
  }
}

function checkArguments(schema: unknown, dialect: string): void {
  if (!Object.hasOwn(DIALECTS, dialect)) {
    throw new TypeError(`dialect: expected one of ${Object.keys(DIALECTS).join(', ')}, got ${JSON.stringify(dialect)}`)
  }
  if (!isObject(schema)) throw new TypeError(`fitSchema: expected a JSON Schema, got ${describe(schema)}`)
}

interface Place {
  readonly path: string
  readonly depth: number
  /** The references that were replaced between the root and this place. */
  readonly refs: readonly string[]
}

class Fitting {
  readonly #document: JsonObject
  readonly #rules: DialectRules
  readonly #changes: SchemaChange[] = []
  #count = 0

  constructor(document: JsonObject, rules: DialectRules) {
    const isTooLong = JSON.stringify(document).length > MAX_LENGTH
    this.#document = isTooLong ? { type: 'object' } : document
    this.#rules = rules
    if (isTooLong) this.#refuseSize('#')
  }

  fitRoot(): FittedSchema {
    const place = { path: '#', depth: 0, refs: [] }
    const root = this.#flattenRoot(place)
    const fitted = omit(this.#fitObject(root.schema, { ...place, refs: root.refs }), ['$schema', '$id', 'id'])
    const { schema, names } = renameProperties(fitted, this.#rules.names, this.#onChange)
    const hasNullable = this.#rules.strict === 'required'
    if (hasNullable) checkStrictLimits(schema)
    return {
      schema: schema as FittedSchema['schema'],
      strict: this.#rules.strict !== undefined,
      changes: this.#changes,
      restore: (args) => {
        const renamed = Object.entries(args).map(([name, value]) => [names.get(name) ?? name, value])
        const restored: JsonObject = Object.fromEntries(renamed)
        return hasNullable ? objectOf(removeNulls(restored, this.#document)) : restored
      },
    }
  }

  #change(path: string, keyword: string, effect: SchemaChange['effect'], message: string): void {
    this.#changes.push({ path, keyword, effect, message })
  }

  readonly #onChange = (change: SchemaChange): void => void this.#changes.push(change)

  // The root: an object without alternatives

  #flattenRoot({ path, refs }: Place): { schema: JsonObject; refs: readonly string[] } {
    const definitions = this.#rules.refs === 'keep' ? ['$defs', 'definitions'] : []
    const kept = Object.fromEntries(definitions.map((name) => [name, this.#document[name]]))
    let root = this.#flatten(this.#document, { path, depth: 0, refs })
    for (const keyword of ['anyOf', 'oneOf']) {
      const alternatives = root.schema[keyword]
      if (!Array.isArray(alternatives)) continue
      const flat = alternatives.map((each) => this.#flatten(objectOf(each), { path, depth: 0, refs: root.refs }))
      this.#change(path, keyword, 'wider', 'merged, because the root must be an object without alternatives')
      const base = omit(root.schema, [keyword])
      const parts = flat.map((each) => each.schema)
      const schema = mergeAlternatives(base, parts)
      const isSame = Object.keys(objectOf(schema.properties)).every((name) =>
        Object.hasOwn(objectOf(base.properties), name),
      )
      if (!isSame)
        this.#change(path, keyword, 'narrower', 'properties of some alternatives have the schema that they give')
      root = { schema, refs: [...new Set([...root.refs, ...flat.flatMap((each) => each.refs)])] }
    }
    const schema: JsonObject = { ...omit(root.schema, ['enum', 'const', 'not']), type: 'object' }
    for (const keyword of ['enum', 'const', 'not']) {
      if (root.schema[keyword] === undefined) continue
      this.#change(path, keyword, 'wider', 'removed, because the root must not have it')
    }
    for (const [name, value] of Object.entries(kept)) if (isObject(value)) schema[name] = value
    return { schema, refs: root.refs }
  }

  /** Replaces the reference of a schema, and merges its `allOf`. */
  #flatten(schema: JsonObject, { path, refs, depth }: Place): { schema: JsonObject; refs: readonly string[] } {
    const resolved = resolveReference(schema, refs, this.#document)
    this.#reportReference(resolved.failure, path)
    const { allOf, ...base } = resolved.schema
    if (allOf === undefined) return { schema: base, refs: resolved.refs }
    let merged = this.#supported(base, path)
    let mergedRefs = resolved.refs
    for (const [index, part] of listOf(allOf).entries()) {
      const inner = `${path}/allOf/${index}`
      this.#count += 1
      if (this.#count > MAX_SCHEMAS || index >= MAX_PARTS) {
        this.#refuseSize(inner)
        break
      }
      const flat = this.#flatten(objectOf(part), { path: inner, refs: resolved.refs, depth: depth + 1 })
      if (part === false) this.#change(inner, 'allOf', 'wider', 'removed')
      const onLoss = (keyword: string, message: string) => this.#change(path, keyword, 'wider', message)
      merged = mergeSchemas(merged, this.#supported(flat.schema, inner), onLoss)
      mergedRefs = [...new Set([...mergedRefs, ...flat.refs])]
    }
    return { schema: merged, refs: mergedRefs }
  }

  #reportReference(failure: { ref: string; reason: string } | undefined, path: string): void {
    if (failure === undefined) return
    if (this.#rules.strict !== undefined) throw new NotStrict(path, '$ref', `${failure.ref} ${failure.reason}`)
    this.#change(path, '$ref', 'wider', `${failure.ref} ${failure.reason}, so any value fits`)
  }

  // All other schemas

  #fit(schema: unknown, place: Place): JsonObject | boolean {
    const { path, depth } = place
    this.#count += 1
    if (this.#count > MAX_SCHEMAS || depth > (this.#rules.maxDepth ?? MAX_DEPTH)) {
      this.#refuseSize(path)
      return {}
    }
    if (!isObject(schema)) return this.#fitBoolean(schema !== false, path)
    if (this.#rules.refs === 'keep') {
      const own = isString(schema.$ref) && isDraft7(this.#document) ? { $ref: schema.$ref } : schema
      return this.#fitObject(own, place)
    }
    if (this.#rules.keywords !== undefined) {
      const flat = this.#flatten(schema, place)
      return this.#fitObject(flat.schema, { ...place, refs: flat.refs })
    }
    const resolved = resolveReference(schema, place.refs, this.#document)
    this.#reportReference(resolved.failure, path)
    return this.#fitObject(resolved.schema, { ...place, refs: resolved.refs })
  }

  #refuseSize(path: string): void {
    if (this.#rules.strict !== undefined) throw new NotStrict(path, '$ref', 'the schema is too large or too deep')
    this.#change(path, '$ref', 'wider', 'removed, because the schema is too large or too deep')
  }

  #fitBoolean(value: boolean, path: string): JsonObject | boolean {
    const { keywords, strict } = this.#rules
    if (keywords === undefined) return value
    if (strict !== undefined) throw new NotStrict(path, 'type', value ? 'it accepts any value' : 'it accepts no value')
    if (!value) this.#change(path, 'type', 'wider', 'removed, because no value fits')
    return {}
  }

  #fitObject(schema: JsonObject, place: Place): JsonObject {
    const start = this.#changes.length
    const supported = this.#supported(withoutOldTuple(schema), place.path)
    const own = this.#splitTypes(this.#normalize(supported, place.path), place.path)
    const entries = Object.entries(own).map(([keyword, value]) => [keyword, this.#fitKeyword(keyword, value, place)])
    const fitted: JsonObject = Object.fromEntries(entries.filter(([, value]) => value !== undefined))
    if (this.#rules.refs === 'inline' && this.#changes.slice(start).some(({ effect }) => effect !== 'same')) {
      for (const keyword of ['unevaluatedProperties', 'unevaluatedItems']) {
        if (fitted[keyword] === undefined) continue
        delete fitted[keyword]
        this.#change(place.path, keyword, 'wider', 'removed, because it depends on what was changed')
      }
    }
    const isArray = typesOf(fitted.type).includes('array')
    if (isArray && fitted.items === undefined) fitted.items = {}
    const { strict } = this.#rules
    if (strict === undefined) return fitted
    return closeObject(fitted, { strict, original: schema, path: place.path, onChange: this.#onChange })
  }

  #fitKeyword(keyword: string, value: unknown, place: Place): unknown {
    const at = (...parts: (string | number)[]) => ({
      path: [place.path, keyword, ...parts.map(toPointerPart)].join('/'),
      depth: place.depth + 1,
      refs: place.refs,
    })
    if (SCHEMA_LIST_KEYWORDS.includes(keyword) && Array.isArray(value)) {
      return this.#exactly(keyword, place.path, () => value.map((each, index) => this.#fit(each, at(index))))
    }
    if (SCHEMA_MAP_KEYWORDS.includes(keyword) && isObject(value)) {
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.#fit(each, at(name))]))
    }
    if (SCHEMA_KEYWORDS.includes(keyword) && (isObject(value) || (typeof value === 'boolean' && keyword === 'items'))) {
      return this.#exactly(keyword, place.path, () => this.#fit(value, at()))
    }
    return value
  }

  /**
   * Converts the schemas of a keyword such as `not`. They must remain exact: if the inner schema accepts more values,
   * the whole schema accepts fewer.
   */
  #exactly(keyword: string, path: string, fitSchemas: () => unknown): unknown {
    const start = this.#changes.length
    const fitted = fitSchemas()
    const isInexact = this.#changes.slice(start).some(({ effect }) => effect !== 'same')
    if (!isInexact || !['not', 'if', 'oneOf', 'contains', 'propertyNames'].includes(keyword)) return fitted
    this.#changes.length = start
    this.#change(path, keyword, 'wider', 'removed, because its schemas cannot be expressed')
    return undefined
  }

  /**
   * Removes the keywords that the dialect does not support. If they are short, adds them to the description for the
   * model.
   */
  #supported(schema: JsonObject, path: string): JsonObject {
    const { keywords, formats, plainPatterns = false, maxMinItems = Number.POSITIVE_INFINITY } = this.#rules
    if (keywords === undefined && !plainPatterns) return schema
    const kept: JsonObject = {}
    const notes: string[] = []
    for (const [keyword, value] of Object.entries(schema)) {
      const isHandled = ['oneOf', 'const', 'allOf', '$ref', 'patternProperties'].includes(keyword)
      const isValue =
        (keyword !== 'format' || formats === undefined || formats.has(String(value))) &&
        (keyword !== 'minItems' || Number(value) <= maxMinItems) &&
        (keyword !== 'pattern' || !plainPatterns || !LOOKAROUND.test(String(value)))
      if (isHandled || ((keywords === undefined || keywords.has(keyword)) && isValue)) {
        kept[keyword] = value
        continue
      }
      if (ANNOTATIONS.has(keyword)) continue
      // If `prefixItems` were removed, `items` would apply to all items.
      if (keyword === 'prefixItems') throw new NotStrict(path, keyword, 'its items have several schemas')
      this.#change(path, keyword, 'wider', 'removed, because it is not supported')
      const note = `${keyword}: ${JSON.stringify(value)}`
      if (note.length <= MAX_NOTE) notes.push(note)
    }
    if (notes.length === 0) return kept
    const description = isString(kept.description) ? `${kept.description} ` : ''
    return { ...kept, description: `${description}(${notes.join(', ')})` }
  }

  /** Replaces keywords by other keywords: `oneOf` by `anyOf`, `const` by `enum`. */
  #normalize(schema: JsonObject, path: string): JsonObject {
    const { keywords, strict } = this.#rules
    if (keywords === undefined) return schema
    const { oneOf, patternProperties, ...own } = schema
    if (oneOf !== undefined) {
      const isAlone = own.anyOf === undefined
      if (isAlone) own.anyOf = oneOf
      this.#change(path, 'oneOf', 'wider', isAlone ? 'replaced by anyOf' : 'removed, because anyOf is used')
    }
    if (patternProperties !== undefined) {
      if (strict !== undefined) throw new NotStrict(path, 'patternProperties', 'it has patternProperties')
      delete own.additionalProperties
      this.#change(path, 'patternProperties', 'wider', 'removed, because it is not supported')
    }
    if (own.const !== undefined && !keywords.has('const')) {
      own.enum = [own.const]
      delete own.const
      this.#change(path, 'const', 'same', 'replaced by enum')
    }
    if (strict === undefined && Array.isArray(own.required)) {
      const declared = own.required.filter((name) => Object.hasOwn(objectOf(own.properties), String(name)))
      const isSame = declared.length === own.required.length
      if (!isSame) this.#change(path, 'required', 'wider', 'removed for properties that are not declared')
      own.required = declared
    }
    if (Array.isArray(own.enum)) this.#checkEnum(own, own.enum, path)
    if (own.type === undefined && (own.enum ?? own.const) !== undefined) {
      const types = [...new Set((own.enum === undefined ? [own.const] : listOf(own.enum)).map(typeOf))]
      own.type = types.length === 1 ? types[0] : types
    }
    return own
  }

  /** Removes an `enum` with values that the dialect does not support, and keeps the types of the values. */
  #checkEnum(schema: JsonObject, values: readonly unknown[], path: string): void {
    const isSimple = (value: unknown) => value === null || ['string', 'number'].includes(typeof value)
    const isSupported = this.#rules.simpleEnums === undefined || (values.every(isSimple) && !isSame(values, [null]))
    if (isSupported && values.length > 0) return
    delete schema.enum
    if (schema.type === undefined && values.length > 0) schema.type = [...new Set(values.map(typeOf))]
    this.#change(path, 'enum', 'wider', 'removed, because a value is neither a string nor a number')
  }

  /** Replaces several types by `anyOf`, because Gemini supports only one type and `null`. */
  #splitTypes(schema: JsonObject, path: string): JsonObject {
    const { type, title, description, ...own } = schema
    if (this.#rules.simpleEnums === undefined || !Array.isArray(type) || own.anyOf !== undefined) return schema
    if (type.length === 1) return { ...schema, type: type[0] }
    const isNullable = type.length === 2 && type.includes('null') && !listOf(own.enum).includes(null)
    if (isNullable) return schema
    const branches = type.flatMap((each) => {
      if (own.enum === undefined) return [{ ...own, type: each }]
      const values = listOf(own.enum).filter((value) => isOfType(value, each))
      const rest = omit(own, ['enum'])
      return values.length === 0 ? [] : [{ ...rest, type: each, ...(each !== 'null' && { enum: values }) }]
    })
    if (branches.length === 0) {
      this.#change(path, 'enum', 'wider', 'removed, because no value has one of the types')
      return this.#splitTypes(omit(schema, ['enum']), path)
    }
    return { ...(title !== undefined && { title }), ...(description !== undefined && { description }), anyOf: branches }
  }
}

function toPointerPart(part: string | number): string {
  return String(part).replaceAll('~', '~0').replaceAll('/', '~1')
}

function isOfType(value: unknown, type: unknown): boolean {
  const own = typeOf(value)
  return own === type || (type === 'number' && own === 'integer')
}
