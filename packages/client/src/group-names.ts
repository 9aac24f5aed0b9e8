/** The names of a group of servers: `git_search` is the tool `search` of the server `git`. */

import { quoted } from '@mcpx/protocol'
import { BoundedMap } from './bounded-map.ts'

/** The longest name that the APIs of models accept. */
const MAX_NAME_LENGTH = 64
/** How many names of one server are remembered. Above this number, the oldest name is removed. */
const MAX_REMEMBERED = 10_000

/** A name at one server of a group. */
export interface MemberName {
  readonly member: string
  readonly name: string
}

/**
 * Creates unique names for the tools or the prompts of several servers, and finds the server and the tool for such a
 * name. A name has at most 64 letters, digits, `_` and `-`. A longer name is cut and ends with a hash. A name that is
 * already in use also ends with a hash.
 */
export class GroupNames {
  readonly #members: readonly string[]
  readonly #separator: string
  /** The names at each server by the names in the group. */
  readonly #known = new Map<string, BoundedMap<string>>()

  constructor(members: readonly string[], separator: string) {
    // Sort long names first, because `a_b_c` is more likely the tool `c` of `a_b` than the tool `b_c` of `a`.
    this.#members = [...members].sort((one, other) => other.length - one.length)
    this.#separator = separator
    for (const member of members) this.#known.set(member, new BoundedMap(MAX_REMEMBERED))
  }

  /** Returns the name in the group, and remembers it. */
  add(member: string, name: string): string {
    const plain = `${member}${this.#separator}${name}`.replace(/[^A-Za-z0-9_-]/g, '_')
    for (let attempt = 0; ; attempt += 1) {
      const full = attempt === 0 && plain.length <= MAX_NAME_LENGTH ? plain : withHash(plain, member, name, attempt)
      const owner = this.find(full) ?? { member, name }
      if (owner.member !== member || owner.name !== name) continue
      this.#known.get(member)?.set(full, name)
      return full
    }
  }

  /** Returns the owner of a name that was added. */
  find(full: string): MemberName | undefined {
    for (const [member, names] of this.#known) {
      const name = names.get(full)
      if (name !== undefined) return { member, name }
    }
    return undefined
  }

  /**
   * Returns the servers whose tools may have conflicting names, in the order of the group. The caller must list them in
   * this order, so that each tool gets the same name as in a list of the whole group.
   */
  membersInConflict(full: string): string[] {
    const shortest = this.guess(full).at(-1)?.member
    if (shortest === undefined) return []
    return [...this.#known.keys()].filter((member) => (member + this.#separator).startsWith(shortest + this.#separator))
  }

  /**
   * Returns the servers and tools that a name may belong to, according to its first part. The most likely one is first.
   */
  guess(full: string): MemberName[] {
    return this.#members
      .filter((member) => full.startsWith(member + this.#separator))
      .map((member) => ({ member, name: full.slice(member.length + this.#separator.length) }))
  }
}

function withHash(plain: string, ...parts: readonly (string | number)[]): string {
  const end = `_${hash(JSON.stringify(parts))}`
  return plain.slice(0, MAX_NAME_LENGTH - end.length) + end
}

/** Returns eight hexadecimal digits: FNV-1a of 32 bits. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  }
  return (value >>> 0).toString(16).padStart(8, '0')
}

/** Throws for a separator that model APIs do not accept in names. */
export function checkSeparator(separator: unknown): void {
  if (typeof separator === 'string' && /^[A-Za-z0-9_-]{1,8}$/.test(separator)) return
  const expected = 'expected 1 to 8 letters, digits, "_" and "-", such as "_" or "__"'
  throw new TypeError(`separator: ${expected}, got ${quoted(String(separator))}`)
}

// URIs keep a dot, because a URI scheme has no underscores.

/** URI schemes that hosts recognize. They are kept, and the name of the server becomes the first segment of the path. */
const KNOWN_SCHEMES = ['ui://', 'skill://']

/** `config://app` of `git` becomes `git.config://app`, and `ui://view` becomes `ui://git/view`. */
export function groupUri(member: string, uri: string): string {
  const scheme = KNOWN_SCHEMES.find((each) => uri.startsWith(each))
  return scheme === undefined ? `${schemeOf(member)}.${uri}` : `${scheme}${member}/${uri.slice(scheme.length)}`
}

/** Returns the server of a URI, and the URI at that server. If the URI has no name of a server, `member` is an empty string. */
export function splitUri(full: string): { readonly member: string; readonly uri: string } {
  const scheme = KNOWN_SCHEMES.find((each) => full.startsWith(each))
  const end = scheme === undefined ? full.indexOf('.') : full.indexOf('/', scheme.length)
  if (end < 1) return { member: '', uri: '' }
  if (scheme !== undefined) return { member: full.slice(scheme.length, end), uri: scheme + full.slice(end + 1) }
  return { member: full.slice(0, end).replaceAll('+', '_'), uri: full.slice(end + 1) }
}

/** Returns the name of a server as the beginning of a URI scheme, which may contain `+` but no `_`. */
export function schemeOf(member: string): string {
  return member.replaceAll('_', '+')
}

/** The longest name of a server. */
export const MAX_SERVER_NAME = 40

/** Throws for a name that cannot begin both a name and a URI scheme. */
export function checkServerName(place: string, name: string): void {
  if (/^[A-Za-z][A-Za-z0-9_-]*$/.test(name) && name.length <= MAX_SERVER_NAME) return
  const expected = 'expected a letter, then at most 39 letters, digits, "_" and "-", such as "git"'
  throw new RangeError(`${place}: ${quoted(name)} cannot begin names and URIs; ${expected}`)
}
