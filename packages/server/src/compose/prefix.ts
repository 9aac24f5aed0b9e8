/** The names that things of a mounted handler have for the outside, and the way back. */

/** Schemes that hosts know by their name, and which therefore stay; the prefix becomes the first segment. */
const NAMED_SCHEMES = ['ui://', 'skill://']

export interface Prefix {
  /** `search` to `github.search`. */
  addToName(name: string): string
  /** Nothing for a name without the prefix. */
  cutFromName(name: string): string | undefined
  /** `config://app` to `github.config://app`; `ui://view` to `ui://github/view`. */
  addToUri(uri: string): string
  cutFromUri(uri: string): string | undefined
}

/** Throws a `RangeError` for a text that cannot begin both a name and a URI scheme. */
export function createPrefix(prefix: string): Prefix {
  if (!/^[A-Za-z][A-Za-z0-9-]*$/.test(prefix)) {
    const rule = 'expected a letter, then letters, digits and hyphens, such as "github"'
    throw new RangeError(`mount: ${JSON.stringify(prefix)} cannot begin names and URI schemes; ${rule}`)
  }
  const start = `${prefix}.`
  const lowered = start.toLowerCase()
  return {
    addToName: (name) => start + name,
    cutFromName: (name) => (name.startsWith(start) ? name.slice(start.length) : undefined),
    addToUri(uri) {
      const scheme = NAMED_SCHEMES.find((each) => uri.startsWith(each))
      return scheme === undefined ? start + uri : `${scheme}${prefix}/${uri.slice(scheme.length)}`
    },
    cutFromUri(uri) {
      // Clients may have written the scheme in lower case.
      if (uri.slice(0, start.length).toLowerCase() === lowered) return uri.slice(start.length)
      const scheme = NAMED_SCHEMES.find((each) => uri.startsWith(`${each}${prefix}/`))
      return scheme === undefined ? undefined : scheme + uri.slice(scheme.length + prefix.length + 1)
    },
  }
}
