/** Reads the arguments of a tool or a prompt from the command line, and converts them as the schema of the tool says. */

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { isObject, type JsonObject, kindOf, nearestName } from '@mcpx/protocol'
import { usageError } from '../output/errors.ts'
import type { Terminal } from '../output/terminal.ts'
import { propertySchema, type SchemaView, viewOf } from './schema-view.ts'

/** The help of the arguments in the form `key=value`. */
export const ARGUMENTS_HELP =
  'key=value, repeated for arrays, a.b=value for nested objects, key:=json, or - for JSON from standard input'

/**
 * Returns the arguments of a call, from `--args` and from the words `key=value`, which have precedence.
 *
 * @param tool the name of the tool, for errors
 * @throws CliError if a value has the wrong type, or if an argument is unknown or missing
 */
export async function readArguments(
  tool: string,
  words: readonly string[],
  json: string | undefined,
  schema: JsonObject,
  terminal: Terminal,
): Promise<JsonObject> {
  const pairs = words.filter((word) => word !== '-')
  const source = pairs.length < words.length ? '-' : json
  const base = source === undefined ? {} : await readJson(source, terminal)
  const args = { ...base, ...parseArguments(tool, pairs, schema) }
  const { required } = schema
  const missing = (Array.isArray(required) ? required : []).filter((name) => !Object.hasOwn(args, String(name)))
  if (missing.length > 0)
    throw usageError(`${tool}: missing ${missing.length > 1 ? 'arguments' : 'the argument'} ${missing.join(', ')}`)
  return args
}

/** Reads JSON that was given as text, as `@file`, or as `-` for standard input. */
async function readJson(source: string, { stdin, cwd }: Terminal): Promise<JsonObject> {
  let place = '--args'
  let text = source
  if (source === '-') {
    place = 'standard input'
    text = await readAll(stdin)
  } else if (source.startsWith('@')) {
    place = resolve(cwd, source.slice(1))
    text = await readFile(place, 'utf8').catch((cause: NodeJS.ErrnoException) => {
      throw usageError(`--args: ${place} cannot be read: ${cause.code}`)
    })
  }
  const value = parseJson(place, text)
  if (isObject(value)) return value
  throw usageError(
    `${place}: expected an object of arguments, got ${kindOf(value)}`,
    'Example: --args \'{"city":"Oslo"}\'',
  )
}

function parseJson(place: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw usageError(`${place}: expected JSON: ${(cause as Error).message}`)
  }
}

/** The values of one argument, in the order of the command line. */
interface Given {
  readonly path: readonly string[]
  readonly schema: SchemaView
  readonly values: { readonly text: string; readonly isJson: boolean }[]
}

/** Converts arguments in the form `key=value`. */
export function parseArguments(tool: string, words: readonly string[], schema: JsonObject): JsonObject {
  const root = viewOf(schema, schema)
  const given = new Map<string, Given>()
  for (const word of words) {
    const [, key, sign, text] = /^([^=]+?)(:?=)(.*)$/s.exec(word) ?? []
    if (key === undefined || text === undefined) {
      throw usageError(`${tool}: expected key=value, got ${JSON.stringify(word)}`, exampleOf(word, root))
    }
    const { path, view } = findProperty(tool, key, root)
    const known = given.get(key) ?? { path, schema: view, values: [] }
    known.values.push({ text, isJson: sign === ':=' })
    given.set(key, known)
  }
  const args: JsonObject = {}
  for (const [key, { path, schema: view, values }] of given) {
    const place = `${tool}: ${key}`
    setAt(place, args, path, readValue(place, values, view))
  }
  return args
}

/** Returns the remedy for a word that is not a pair. */
function exampleOf(word: string, { names }: SchemaView): string {
  const [first] = names
  if (names.includes(word)) return `Write ${word}=value.`
  return first === undefined ? 'It has no arguments.' : `Example: ${first}=value`
}

/** Finds the property of a key. A property whose name contains dots has precedence over a nested property. */
function findProperty(tool: string, key: string, root: SchemaView): { path: string[]; view: SchemaView } {
  const path: string[] = []
  let view = root
  let rest = key
  while (rest !== '') {
    const parts = rest.split('.')
    const lengths = parts.map((_, index) => parts.length - index)
    const length = lengths.find((each) => view.names.includes(parts.slice(0, each).join('.'))) ?? 1
    const name = parts.slice(0, length).join('.')
    if (!view.names.includes(name) && !view.isOpen) throw unknownArgument(tool, [...path, name], view)
    path.push(name)
    view = propertySchema(view, name)
    rest = parts.slice(length).join('.')
  }
  return { path, view }
}

function unknownArgument(tool: string, path: readonly string[], { names }: SchemaView): Error {
  const name = path.at(-1) ?? ''
  const before = path.slice(0, -1).map((part) => `${part}.`)
  const nearest = nearestName(name, names)
  const known = names.length === 0 ? 'It has no arguments.' : `Its arguments are ${names.join(', ')}.`
  return usageError(
    `${tool}: there is no argument ${JSON.stringify(path.join('.'))}`,
    nearest === undefined ? `${known} --args sends any JSON.` : `Did you mean ${before.join('')}${nearest}?`,
  )
}

function readValue(place: string, values: Given['values'], view: SchemaView): unknown {
  const [first, ...others] = values.map(({ text, isJson }) => (isJson ? { json: parseJson(place, text) } : { text }))
  const isList = view.types.has('array')
  if (others.length > 0 && !isList && view.types.size > 0) {
    throw usageError(`${place}: expected one value, got ${values.length}`)
  }
  if (others.length === 0 && first !== undefined) {
    if ('json' in first) return first.json
    if (!isList || view.types.has('string')) return convert(place, first.text, view)
    const list = tryJson(first.text)
    if (Array.isArray(list)) return list
  }
  const item = propertySchema(view, 'items')
  return values.map(({ text, isJson }) => (isJson ? parseJson(place, text) : convert(place, text, item)))
}

/** Converts one value. If the schema accepts strings, returns the text unchanged. */
function convert(place: string, text: string, { types, choices }: SchemaView): unknown {
  const choice = choices.find((each) => String(each) === text)
  if (choice !== undefined) return choice
  const texts = choices.filter((each) => typeof each === 'string')
  if (texts.length > 0 && texts.length === choices.length) {
    const nearest = nearestName(text, texts)
    const remedy = nearest === undefined ? undefined : `Did you mean ${nearest}?`
    throw usageError(`${place}: expected one of ${texts.join(', ')}, got ${JSON.stringify(text)}`, remedy)
  }
  if (types.has('string')) return text
  if (types.size === 0) return tryJson(text) ?? text
  if (
    (types.has('number') || types.has('integer')) &&
    /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text.trim())
  ) {
    return Number(text)
  }
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  if (types.has('null') && text === 'null') return null
  const json = tryJson(text)
  if (types.has('object') && isObject(json)) return json
  const expected = [...types].map((type) =>
    type === 'boolean' ? 'true or false' : type === 'object' ? 'a JSON object' : type,
  )
  throw usageError(`${place}: expected ${expected.join(' or ')}, got ${JSON.stringify(text)}`)
}

/** Parses JSON. Returns undefined if the text is not JSON. */
function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function setAt(place: string, args: JsonObject, path: readonly string[], value: unknown): void {
  let target: Record<string, unknown> = args
  for (const name of path.slice(0, -1)) {
    if (!Object.hasOwn(target, name)) define(target, name, {})
    const next = target[name]
    if (!isObject(next)) throw usageError(`${place}: ${name} has another value already`)
    target = next
  }
  define(target, path.at(-1) ?? '', value)
}

/** Sets an own member, even if its name is `__proto__`. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}
