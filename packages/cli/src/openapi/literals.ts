/**
 * Writes parts of TypeScript sources. Text from an OpenAPI description is escaped, so that it cannot end the string
 * literal or the comment that contains it.
 */

import { quotedText } from '../output/plain-text.ts'

/**
 * The maximum length of a name, and of an object or an array on one line, in characters. Longer objects and arrays are
 * written on several lines.
 */
const MAX_LINE = 80

/** Returns a string literal on one line. */
export function stringLiteral(text: string): string {
  // Linters report "${" in a string as a forgotten template literal.
  const inner = quotedText(text).slice(1, -1).replaceAll('\\"', '"').replaceAll('${', '$\\x7b')
  return `'${inner.replace(/\\.|'/g, (found) => (found === "'" ? "\\'" : found))}'`
}

/** Returns the literal of a JSON value. */
export function valueLiteral(value: unknown): string {
  if (typeof value === 'string') return stringLiteral(value)
  if (Array.isArray(value)) return listLiteral(value.map(valueLiteral))
  if (typeof value !== 'object' || value === null) return String(value)
  return objectLiteral(Object.entries(value).map(([key, each]) => [key, valueLiteral(each)]))
}

/** A member of an object literal: a key with the code of its value, or other code such as `...rest`. */
export type Member = readonly [key: string, code: string] | { readonly code: string }

/** Returns an object literal. */
export function objectLiteral(members: readonly Member[]): string {
  const codes = members.map((member) => ('code' in member ? member.code : `${keyOf(member[0])}: ${member[1]}`))
  return block('{', codes, '}', ' ')
}

/** Returns an array literal of expressions. */
export function listLiteral(items: readonly string[]): string {
  return block('[', items, ']', '')
}

/** Returns a function call. */
export function call(name: string, ...args: readonly string[]): string {
  return `${name}(${args.join(', ')})`
}

/** Returns an expression that reads a property of an object: `input.id` or `input['an id']`. */
export function memberOf(object: string, key: string): string {
  return isIdentifier(key) ? `${object}.${key}` : `${object}[${stringLiteral(key)}]`
}

/** Returns a comment of one line. */
export function lineComment(text: string): string {
  return `// ${quotedText(text.replace(/\s+/g, ' ').trim()).slice(1, -1).replaceAll('\\"', '"')}`
}

/** Returns `text` in PascalCase with ASCII letters and digits only, such as `PetStatus` for `pet-status`. */
export function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  const name = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')
  return /^[A-Za-z]/.test(name) ? name.slice(0, MAX_LINE) : `Item${name}`.slice(0, MAX_LINE)
}

/** Returns `name`, or `name` with a number if `taken` already contains it. Adds the result to `taken`. */
export function uniqueName(name: string, taken: Set<string>, maxLength = MAX_LINE): string {
  let unique = name
  for (let number = 2; taken.has(unique); number++) {
    const suffix = `_${number}`
    unique = `${name.slice(0, maxLength - suffix.length)}${suffix}`
  }
  taken.add(unique)
  return unique
}

function keyOf(key: string): string {
  // The key `__proto__` would set the prototype.
  if (key === '__proto__') return "['__proto__']"
  return isIdentifier(key) ? key : stringLiteral(key)
}

function isIdentifier(key: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(key) && key !== '__proto__'
}

function block(open: string, items: readonly string[], close: string, padding: string): string {
  if (items.length === 0) return `${open}${close}`
  const line = `${open}${padding}${items.join(', ')}${padding}${close}`
  if (line.length <= MAX_LINE && !line.includes('\n')) return line
  // String literals contain no line breaks, so the indentation changes no string.
  return `${open}\n${items.map((item) => `  ${item.replaceAll('\n', '\n  ')},\n`).join('')}${close}`
}
