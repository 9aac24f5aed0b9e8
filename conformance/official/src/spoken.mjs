/** Looks at what leaves this process by `fetch`: which revisions it asks for, and says of its messages. Loaded by `preload.mjs`. */
import { writeSync } from 'node:fs'

/** What a message of the newer era says of itself. */
const OWN_REVISION = 'io.modelcontextprotocol/protocolVersion'

/**
 * Writes two lines to a file descriptor at the end, of all revisions in order, with commas: `spoke 2025-06-18`, which are
 * those that messages name, and `header 2025-06-18, none`, which are those in the headers of what is sent after a handshake.
 * A line with nothing in it is not written.
 */
export function tellWhatIsSpoken(descriptor) {
  const told = { spoke: new Set(), header: new Set() }
  const { fetch } = globalThis
  globalThis.fetch = (input, init) => {
    const message = messageIn(init?.body)
    for (const revision of revisionsOf(message)) if (typeof revision === 'string') told.spoke.add(revision)
    if (isOfProtocol(message, input, init))
      told.header.add(headersOf(input, init).get('mcp-protocol-version') ?? 'none')
    return fetch(input, init)
  }
  process.on('exit', () => {
    for (const [name, revisions] of Object.entries(told))
      if (revisions.size > 0) writeSync(descriptor, `\n${name} ${[...revisions].sort().join(', ')}\n`)
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

function revisionsOf({ method, params } = {}) {
  return [method === 'initialize' ? params?.protocolVersion : undefined, params?._meta?.[OWN_REVISION]]
}

/** Whether it is sent to a server of the protocol when a revision is agreed upon: a message, or what opens or ends a stream. */
function isOfProtocol(message, input, init) {
  if (message !== undefined) return message.jsonrpc === '2.0' && message.method !== 'initialize'
  const headers = headersOf(input, init)
  return headers.has('mcp-session-id') || /^text\/event-stream/.test(headers.get('accept') ?? '')
}

function headersOf(input, init) {
  return new Headers(init?.headers ?? input.headers)
}

function messageIn(body) {
  if (typeof body !== 'string' || !body.startsWith('{')) return undefined
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
