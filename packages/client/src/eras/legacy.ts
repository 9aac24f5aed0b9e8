/** The legacy wire: a handshake opens a session, and the server asks by requests of its own. */

import {
  type ClientRequests,
  ConnectionError,
  clientRequestResult,
  ErrorCode,
  eraOf,
  isRevision,
  type JsonObject,
  LATEST_LEGACY_REVISION,
  quoted,
  type Revision,
  RpcError,
  revisionsOf,
  stripParamsFor,
} from '@mcpx/protocol'
import { type Core, sendOptions } from '../core.ts'
import type { Line } from '../line.ts'
import type { RequestCallOptions } from '../options.ts'
import { checkResult, type Link, type ServerFacts, withCallMeta } from './era.ts'
import { createLegacyAsks } from './legacy-asks.ts'
import { createLegacyChanges } from './legacy-changes.ts'
import { visitUrls } from './legacy-urls.ts'

type InitializeResult = ClientRequests['initialize']['result']

/** Shakes hands and speaks what was agreed on. An offer that was pinned must be taken as it is. */
export async function openLegacy(core: Core, line: Line, pinned?: Revision): Promise<Link> {
  const { connection } = line
  const changes = createLegacyChanges(core, connection)
  const asks = createLegacyAsks(core)
  line.listener = {
    answer: asks.answer,
    hear(notification) {
      if (!changes.hear(notification)) core.hear(notification)
    },
  }
  const { revision, server } = await shakeHands(core, line, pinned)
  asks.speak(revision, server)
  await connection.notify('notifications/initialized')
  await connection.negotiated?.(revision, changes.missed)
  const link = createLink({ core, line, revision, server, changes })
  if (core.options.logLevel !== undefined && server.capabilities.logging !== undefined) {
    await link.setLogLevel(core.logLevel ?? core.options.logLevel, {})
  }
  return link
}

interface Parts {
  readonly core: Core
  readonly line: Line
  readonly revision: Revision
  readonly server: ServerFacts
  readonly changes: ReturnType<typeof createLegacyChanges>
}

function createLink({ core, line, revision, server, changes }: Parts): Link {
  const { connection } = line
  let mistaken = false

  async function send(method: string, params: JsonObject, options: RequestCallOptions): Promise<JsonObject> {
    const sent = stripParamsFor(revision, method, withCallMeta(params, options.meta))
    const result = await connection.request(method, sent, sendOptions(core, options))
    return checkResult(clientRequestResult(revision, method), method, result)
  }

  async function request(method: string, params: JsonObject, options: RequestCallOptions): Promise<JsonObject> {
    try {
      return await send(method, params, options)
    } catch (error) {
      if (await visitUrls(core, { method, options, revision, server, error }))
        return await send(method, params, options)
      mistaken ||= isModernError(error)
      throw error
    }
  }

  return {
    era: 'legacy',
    revision,
    server,
    connection,
    get ended() {
      return line.ended || mistaken
    },
    request,
    listen: (filter, hooks) => changes.listen(filter, server.capabilities, hooks),
    discover: async () => server,
    async setLogLevel(level, options) {
      await send('logging/setLevel', { level }, options)
      core.logLevel = level
    },
    async ping(options) {
      await send('ping', {}, options)
    },
    async rootsChanged() {
      await connection.notify('notifications/roots/list_changed')
    },
  }
}

/** The server has been replaced by one that does not speak this era: the next call finds out what it does speak. */
function isModernError(error: unknown): boolean {
  if (!(error instanceof RpcError)) return false
  return error.code === ErrorCode.HeaderMismatch || error.code === ErrorCode.UnsupportedProtocolVersion
}

async function shakeHands(core: Core, line: Line, pinned: Revision | undefined) {
  const offer = pinned ?? LATEST_LEGACY_REVISION
  try {
    return readAnswer(await initialize(core, line, offer), pinned)
  } catch (error) {
    const other = pinned === undefined ? otherOffer(error) : undefined
    if (other !== undefined) return readAnswer(await initialize(core, line, other), pinned)
    throw error
  }
}

function initialize(core: Core, { connection }: Line, protocolVersion: Revision): Promise<unknown> {
  const { capabilities } = core.handlers
  const declared = capabilities.roots === undefined ? capabilities : { ...capabilities, roots: { listChanged: true } }
  const params = { protocolVersion, capabilities: declared, clientInfo: core.clientInfo }
  const { signal, timeout } = core.options
  return connection.request('initialize', params, { signal, timeout, announceCancel: false })
}

function readAnswer(result: unknown, pinned: Revision | undefined): { revision: Revision; server: ServerFacts } {
  const answer = checkResult(clientRequestResult(LATEST_LEGACY_REVISION, 'initialize'), 'initialize', result)
  const { protocolVersion: revision, serverInfo: info, ...server } = answer as unknown as InitializeResult
  const isKnown = isRevision(revision) && eraOf(revision) === 'legacy'
  if (!isKnown || (pinned !== undefined && revision !== pinned)) {
    const hint = `This client speaks ${pinned ?? revisionsOf('legacy').join(', ')}.`
    throw new ConnectionError('unsupported', `The server wants to speak revision ${quoted(revision)}`, { hint })
  }
  return { revision, server: { info, capabilities: server.capabilities, instructions: server.instructions } }
}

/** Old servers refuse an offer with those that they would take. */
function otherOffer(error: unknown): Revision | undefined {
  const supported = error instanceof RpcError ? (error.data as JsonObject | undefined)?.supported : undefined
  if (!Array.isArray(supported)) return undefined
  return revisionsOf('legacy').findLast((revision) => supported.includes(revision))
}
