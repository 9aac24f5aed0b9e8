/** The names that things of a mounted handler have for the outside, and the way back. */

import type { Kind } from '../members.ts'

export interface Prefix {
  /** `search` to `github.search`; the resource `config://app` to `github.config://app`, `ui://view` to `ui://github/view`. */
  add(kind: Kind, name: string): string
  /** The way back; nothing for a name without the prefix. */
  cut(kind: Kind, name: string): string | undefined
}

/** Schemes that hosts know by their name, and which therefore stay; the prefix becomes the first segment. */
const NAMED_SCHEME = /^(?:ui|skill):\/\//

/** Throws a `RangeError` for a text that cannot begin both a name and a URI scheme. */
export function createPrefix(prefix: string): Prefix {
  if (!/^[A-Za-z][A-Za-z0-9-]*$/.test(prefix)) {
    const rule = 'expected a letter, then letters, digits and hyphens, such as "github"'
    throw new RangeError(`mount: ${JSON.stringify(prefix)} cannot begin names and URI schemes; ${rule}`)
  }
  const start = `${prefix}.`
  const segment = `${prefix}/`
  return {
    add(kind, name) {
      const [scheme] = (kind === 'resource' && NAMED_SCHEME.exec(name)) || []
      return scheme === undefined ? start + name : scheme + segment + name.slice(scheme.length)
    },
    cut(kind, name) {
      const own = name.slice(start.length)
      if (name.startsWith(start)) return own
      if (kind !== 'resource') return undefined
      // Clients may have written the scheme in lower case.
      if (name.slice(0, start.length).toLowerCase() === start.toLowerCase()) return own
      const [scheme = ''] = NAMED_SCHEME.exec(name) ?? []
      return scheme !== '' && name.startsWith(segment, scheme.length)
        ? scheme + name.slice(scheme.length + segment.length)
        : undefined
    },
  }
}
