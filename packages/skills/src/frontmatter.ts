/**
 * Reads the YAML frontmatter of a `SKILL.md` as JSON, within limits, and compares two frontmatters.
 * https://agentskills.io/specification
 */

import { isObject, placeOf, quoted } from '@mcpx/protocol'
import { parseDocument, visit } from 'yaml'

/** The longest frontmatter, in UTF-16 code units. */
const MAX_LENGTH = 32 * 1024
/** The deepest nesting of values. */
const MAX_DEPTH = 32
/** The largest number of values, counted after aliases were replaced. A long string counts as several values. */
const MAX_VALUES = 10_000
/** How many characters of a string count as one value. */
const MAX_STRING = 64
/** The largest number of aliases. An alias in the value of another alias counts each time it is used. */
const MAX_ALIASES = 100

/** The two parts of a `SKILL.md`, or the problem that makes it invalid. */
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
    const { message } = error as Error
    return { problem: message.startsWith('frontmatter') ? message : `frontmatter: ${message}` }
  }
}

/** Reads YAML 1.2 (core schema) as JSON. Throws an error that names the place. */
function parseYaml(yaml: string): Record<string, unknown> {
  // Add a line break for the line `---`, so that line numbers in errors match the file.
  const options = { schema: 'core', stringKeys: true, uniqueKeys: false, logLevel: 'error' } as const
  const document = parseDocument(`\n${yaml}`, options)
  const [error] = document.errors
  if (error !== undefined) {
    const message = error.message.split(':\n', 1)[0]?.slice(0, 200)
    throw new Error(`frontmatter: ${message}; write values that contain ": " or other special characters in quotes`)
  }
  // Check for duplicate keys here, because the option `uniqueKeys` takes quadratic time.
  visit(document, {
    Map(_, { items }) {
      const names = new Set<string>()
      for (const { key } of items) {
        if (names.has(`${key}`)) throw new Error(`frontmatter: expected each name once, got ${quoted(`${key}`)} twice`)
        names.add(`${key}`)
      }
    },
  })
  const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
  if (!isObject(value)) throw new Error('frontmatter: expected members such as `name: my-skill`')
  checkValue(value, [], { values: 0 })
  return value
}

/** Throws if a value cannot be expressed in JSON, or if there are too many values. */
function checkValue(value: unknown, path: readonly PropertyKey[], count: { values: number }): void {
  const fail = (problem: string) => new Error(`${placeOf(path.slice(0, 8), 'frontmatter')}: ${problem}`)
  count.values += typeof value === 'string' ? 1 + value.length / MAX_STRING : 1
  if (count.values > MAX_VALUES) throw fail(`expected at most ${MAX_VALUES} values, got more`)
  if (path.length > MAX_DEPTH) throw fail(`expected at most ${MAX_DEPTH} levels, got more`)
  if (typeof value === 'number' && !Number.isFinite(value))
    throw fail(`expected a number of JSON, got ${value}; write it in quotes`)
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    if (name === '__proto__') throw fail('the name __proto__ is not allowed; remove it')
    checkValue(member, [...path, Array.isArray(value) ? Number(name) : name], count)
  }
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
