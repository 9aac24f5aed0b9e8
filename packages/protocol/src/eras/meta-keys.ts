/** The grammar of `_meta` names, which is also that of extension ids: `com.example.tools/origin`, or a bare `origin`. */

const LABEL = '[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?'
const GRAMMAR = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*/)?(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?$`)
const RESERVED = /^[^./]+\.(?:modelcontextprotocol|mcp)[./]/

/** Whether a name follows the grammar. */
export function isMetaKey(key: string): boolean {
  return key !== '' && GRAMMAR.test(key)
}

/** Whether only the protocol itself may give a name a meaning: its second label is `modelcontextprotocol` or `mcp`. */
export function isReservedMetaKey(key: string): boolean {
  return RESERVED.test(key)
}

/** Whether a name can be the id of an extension: like a `_meta` name, but never without a prefix. */
export function isExtensionId(id: string): boolean {
  return isMetaKey(id) && id.includes('/') && !id.endsWith('/')
}
