/** The names that things of one server have in a group of servers: its name, a dot, and their own. */

import type { ContentBlock } from '@mcpx/protocol'

/** Schemes that hosts know by their name, and which therefore stay; the member becomes the first segment. */
const NAMED_SCHEMES = ['ui://', 'skill://']

/** `config://app` of `git` to `git.config://app`; `ui://view` to `ui://git/view`. */
export function memberUri(member: string, uri: string): string {
  const scheme = NAMED_SCHEMES.find((each) => uri.startsWith(each))
  return scheme === undefined ? `${member}.${uri}` : `${scheme}${member}/${uri.slice(scheme.length)}`
}

/** The member that a URI belongs to, and what the URI is called there. */
export function splitUri(uri: string): { member: string; uri: string } | undefined {
  const scheme = NAMED_SCHEMES.find((each) => uri.startsWith(each))
  if (scheme === undefined) {
    const split = splitName(uri)
    return split && { member: split.member, uri: split.name }
  }
  const end = uri.indexOf('/', scheme.length)
  if (end < 0) return undefined
  return { member: uri.slice(scheme.length, end), uri: scheme + uri.slice(end + 1) }
}

/** The member that a name belongs to, and the name that it has there. */
export function splitName(full: string): { member: string; name: string } | undefined {
  const dot = full.indexOf('.')
  return dot < 1 ? undefined : { member: full.slice(0, dot), name: full.slice(dot + 1) }
}

/** Content whose resources are named as the group names them. */
export function memberContent<Block extends ContentBlock>(member: string, block: Block): Block {
  if (block.type === 'resource_link') return { ...block, uri: memberUri(member, block.uri) }
  if (block.type !== 'resource') return block
  return { ...block, resource: { ...block.resource, uri: memberUri(member, block.resource.uri) } }
}

/** Throws for a name that cannot begin both a name and a URI scheme. */
export function checkMember(member: string): void {
  if (/^[A-Za-z][A-Za-z0-9-]*$/.test(member)) return
  const rule = 'expected a letter, then letters, digits and hyphens, such as "git"'
  throw new RangeError(`connectAll: ${JSON.stringify(member)} cannot begin names and URIs; ${rule}`)
}
