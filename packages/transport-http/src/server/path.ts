/** Reads a path that something is served at, as it arrives in requests. */

/**
 * A path that begins with a slash, and is encoded as in a URL.
 *
 * @param example what such a path looks like, to show it
 * @throws TypeError for what is more than a path, or none
 */
export function readPath(option: string, given: unknown, example: string): string {
  const url = typeof given === 'string' ? parse(given) : undefined
  if (url?.host === HOST && url.search === '' && url.hash === '') return url.pathname
  const shown = JSON.stringify(given)
  throw new TypeError(`${option}: expected a path such as "${example}", with no host and no query, got ${shown}`)
}

const HOST = 'path.invalid'

function parse(given: string): URL | undefined {
  const from = given.startsWith('/') || given.includes('://') ? given : `/${given}`
  const base = `http://${HOST}`
  return URL.canParse(from, base) ? new URL(from, base) : undefined
}
