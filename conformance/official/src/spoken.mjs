/** Looks at what leaves this process by `fetch`: which revisions it asks for, and says of its messages. Loaded by `preload.mjs`. */
import { writeSync } from 'node:fs'

/** What a message of the newer era says of itself. */
const OWN_REVISION = 'io.modelcontextprotocol/protocolVersion'

/** Writes `spoke 2025-06-18` to a file descriptor at the end: all revisions, in order, with commas; nothing when none was named. */
export function tellWhatIsSpoken(descriptor) {
  const spoken = new Set()
  const { fetch } = globalThis
  globalThis.fetch = (input, init) => {
    for (const revision of revisionsIn(input, init)) spoken.add(revision)
    return fetch(input, init)
  }
  process.on('exit', () => {
    if (spoken.size > 0) writeSync(descriptor, `\nspoke ${[...spoken].sort().join(', ')}\n`)
  })
}

/**
 * Has handshakes ask for this revision. The client that the suite uses asks for its newest, whatever `--spec-version` says; what it says
 * after that is what the server agreed to.
 */
export function askFor(revision) {
  const { fetch } = globalThis
  globalThis.fetch = (input, init) => {
    const message = messageIn(init?.body)
    if (message?.method !== 'initialize') return fetch(input, init)
    const params = { ...message.params, protocolVersion: revision }
    return fetch(input, { ...init, body: JSON.stringify({ ...message, params }) })
  }
}

function revisionsIn(input, init = {}) {
  const headers = new Headers(init.headers ?? input.headers)
  const header = headers.get('mcp-protocol-version')
  return [header, ...revisionsOf(init.body)].filter((revision) => typeof revision === 'string')
}

function revisionsOf(body) {
  const { method, params } = messageIn(body) ?? {}
  return [method === 'initialize' ? params?.protocolVersion : undefined, params?._meta?.[OWN_REVISION]]
}

function messageIn(body) {
  if (typeof body !== 'string' || !body.startsWith('{')) return undefined
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
