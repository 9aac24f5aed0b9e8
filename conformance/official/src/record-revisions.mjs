/** Records the revisions in the requests that this process sends with `fetch`. Loaded by `preload.mjs`. */
import { writeSync } from 'node:fs'

/** The metadata key of the revision in modern messages. */
const REVISION_KEY = 'io.modelcontextprotocol/protocolVersion'

/** Writes the recorded revisions to a file descriptor at the exit: `messages 2025-06-18` for the revisions in messages, and
 * `headers 2025-06-18, none` for the revisions in the headers of messages after the handshake. Empty lines are omitted.
 */
export function recordRevisions(descriptor) {
  const recorded = { messages: new Set(), headers: new Set() }
  const { fetch } = globalThis
  globalThis.fetch = (input, init) => {
    const message = messageIn(init?.body)
    for (const revision of revisionsOf(message)) if (typeof revision === 'string') recorded.messages.add(revision)
    if (isAfterHandshake(message, input, init))
      recorded.headers.add(headersOf(input, init).get('mcp-protocol-version') ?? 'none')
    return fetch(input, init)
  }
  process.on('exit', () => {
    for (const [name, revisions] of Object.entries(recorded))
      if (revisions.size > 0) writeSync(descriptor, `\n${name} ${[...revisions].sort().join(', ')}\n`)
  })
}

/**
 * Replaces the revision in handshakes. The client of the suite always requests its newest revision, independently of
 * `--spec-version`, and then uses the negotiated revision.
 */
export function overrideRevision(revision) {
  const { fetch } = globalThis
  globalThis.fetch = (input, init) => {
    const message = messageIn(init?.body)
    if (message?.method !== 'initialize') return fetch(input, init)
    const params = { ...message.params, protocolVersion: revision }
    return fetch(input, { ...init, body: JSON.stringify({ ...message, params }) })
  }
}

function revisionsOf({ method, params } = {}) {
  return [method === 'initialize' ? params?.protocolVersion : undefined, params?._meta?.[REVISION_KEY]]
}

/** Whether a request belongs to MCP after the handshake: a message, or a GET or DELETE of a session. */
function isAfterHandshake(message, input, init) {
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
