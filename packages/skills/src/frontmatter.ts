/** Reads the YAML frontmatter of a `SKILL.md` as JSON, with limits, and compares it. https://agentskills.io/specification */

import { isObject, placeOf, quoted } from '@mcpx/protocol'
import { type Document, isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml'

/** The longest frontmatter, in UTF-16 code units. */
const MAX_LENGTH = 64 * 1024
/** The deepest nesting. */
const MAX_DEPTH = 32
/** The most values, and the most characters of strings, counted after aliases were replaced by their values. */
const MAX_VALUES = 10_000
/** The most aliases. */
const MAX_ALIASES = 100

/** A `SKILL.md` in two parts, or the problem with it. */
export interface ParsedSkillFile {
  readonly frontmatter?: Readonly<Record<string, unknown>>
  /** The text after the frontmatter. */
  readonly body?: string
  readonly problem?: string
}

/** Splits a `SKILL.md` into its frontmatter and the text after it. Never throws. */
export function parseSkillFile(text: string): ParsedSkillFile {
  const start = /^\uFEFF?---[ \t]*\r?\n/.exec(text)?.[0].length
  if (start === undefined) return { problem: 'expected a line `---`, then YAML, then a line `---`, at its beginning' }
  const head = text.slice(start, start + MAX_LENGTH)
  const end = /^---[ \t]*\r?$/m.exec(head)
  if (end === null) {
    const isLonger = text.length - start > MAX_LENGTH
    return {
      problem: `the frontmatter has no line \`---\` at its end${isLonger ? ` within ${MAX_LENGTH} characters` : ''}`,
    }
  }
  try {
    const frontmatter = parseYaml(head.slice(0, end.index))
    const body = text.slice(start + end.index + end[0].length).replace(/^\n/, '')
    return { frontmatter, body }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

/** Reads YAML 1.2 of the core schema as JSON. Throws an error whose message names the place. */
function parseYaml(yaml: string): Record<string, unknown> {
  // The line break stands for the line `---`, so that errors have the line numbers of the file.
  const document = parseDocument(`\n${yaml}`, {
    schema: 'core',
    stringKeys: true,
    uniqueKeys: false,
    logLevel: 'error',
  })
  const [error] = document.errors
  if (error !== undefined) {
    const message = error.message.split(':\n', 1)[0]?.slice(0, 200)
    throw new Error(`frontmatter: ${message}; write values that contain ": " or other special characters in quotes`)
  }
  const value = new JsonReader(document).read(document.contents, [])
  if (isObject(value)) return value
  throw new Error('frontmatter: expected members such as `name: my-skill`')
}

/** Converts YAML nodes to JSON. Limits the values that aliases expand to, and refuses what JSON cannot express. */
class JsonReader {
  readonly #document: Document
  #values = 0
  #characters = 0
  #aliases = 0

  constructor(document: Document) {
    this.#document = document
  }

  read(node: unknown, path: readonly PropertyKey[]): unknown {
    this.#values += 1
    if (this.#values > MAX_VALUES) throw fault([], `has more than ${MAX_VALUES} values`)
    if (path.length > MAX_DEPTH) throw fault(path, `is nested deeper than ${MAX_DEPTH} levels`)
    if (isAlias(node)) {
      this.#aliases += 1
      if (this.#aliases > MAX_ALIASES) throw fault([], `has more than ${MAX_ALIASES} aliases`)
      const value = node.resolve(this.#document)
      if (value === undefined) throw fault(path, `there is no anchor ${quoted(node.source)} before it`)
      return this.read(value, path)
    }
    if (isSeq(node)) return node.items.map((item, index) => this.read(item, [...path, index]))
    if (isMap(node)) {
      const members: Record<string, unknown> = {}
      for (const { key, value } of node.items) {
        const name = isScalar(key) ? String(key.value) : ''
        if (!isScalar(key) || name === '__proto__') throw fault([...path, name], 'is no allowed name')
        if (Object.hasOwn(members, name)) throw fault([...path, name], 'exists twice; remove one of them')
        members[name] = this.read(value, [...path, name])
      }
      return members
    }
    const value = isScalar(node) ? node.value : null
    if (typeof value === 'string') this.#characters += value.length
    if (this.#characters > MAX_LENGTH) throw fault([], `has more than ${MAX_LENGTH} characters`)
    if (typeof value !== 'number' || Number.isFinite(value)) return value
    throw fault(path, `is ${value}, which JSON cannot express; write it in quotes`)
  }
}

function fault(path: readonly PropertyKey[], problem: string): Error {
  return new Error(`${placeOf(path.slice(0, 8), 'frontmatter')}: ${problem}`)
}

/**
 * Returns the first member of two frontmatters that differs, such as `metadata`. Returns undefined if they are equal. A missing
 * member equals null, because some servers do not send members that are null.
 */
export function differingMember(
  some: Readonly<Record<string, unknown>>,
  other: Readonly<Record<string, unknown>>,
): string | undefined {
  const names = new Set([...Object.keys(some), ...Object.keys(other)])
  return [...names].find((name) => !isEqual(own(some, name), own(other, name)))
}

function own(members: Readonly<Record<string, unknown>>, name: string): unknown {
  return (Object.hasOwn(members, name) ? members[name] : undefined) ?? null
}

function isEqual(some: unknown, other: unknown): boolean {
  if (Array.isArray(some) && Array.isArray(other)) {
    return some.length === other.length && some.every((item, index) => isEqual(item, other[index]))
  }
  return isObject(some) && isObject(other) ? differingMember(some, other) === undefined : some === other
}
