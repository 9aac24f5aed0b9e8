/** Calls through a fetch handler in one process, as on the edge, without sockets. */
import type { Maker, SpeedCase, Subject, Work } from '../case.ts'
import { initializeParams, type Manner, messageText, requestHeaders, type Target } from '../driver/requests.ts'

type Handle = (request: Request) => Promise<Response>

const url = 'http://127.0.0.1/mcp'

function requestOf(target: Target, method: string, params: Record<string, unknown>, id?: number): Request {
  const headers = requestHeaders(target, method, params.name)
  return new Request(url, { method: 'POST', headers, body: messageText(target.era, method, params, id) })
}

async function openSession(handle: Handle, manner: Manner): Promise<Target> {
  const target: Target = { ...manner, port: 80 }
  if (!manner.hasSession) return target
  const response = await handle(requestOf(target, 'initialize', initializeParams(manner.revision), 1))
  await response.text()
  const session = response.headers.get('mcp-session-id')
  if (session === null) throw new Error(`No session: HTTP ${response.status}`)
  const open: Target = { ...target, session }
  await (await handle(requestOf(open, 'notifications/initialized', {}))).text()
  return open
}

async function prepare(file: string, manner: Manner): Promise<Work> {
  const { handle } = (await import(new URL(`../../subjects/fetch/${file}.mjs`, import.meta.url).href)) as {
    handle: Handle
  }
  const target = await openSession(handle, manner)
  const headers = requestHeaders(target, 'tools/call', 'add')
  const params = { name: 'add', arguments: { a: 2, b: 3 } }
  let id = 1
  const call = async () => {
    id += 1
    const body = messageText(target.era, 'tools/call', params, id)
    return (await handle(new Request(url, { method: 'POST', headers, body }))).text()
  }
  return { call, isRight: (text) => String(text).includes('"text":"5"') }
}

const legacy = { era: 'legacy', hasSession: true } as const
const modern = { era: 'modern' } as const

function subject(name: string, says: string, maker: Maker, manner: Manner, file: string, atMost?: number): Subject {
  return { name, says, maker, against: 'bare', atMost, prepare: () => prepare(file, manner) }
}

export const fetch: SpeedCase = {
  kind: 'speed',
  name: 'fetch',
  says: 'A `Request` with a `tools/call` to a fetch handler, and the text of its `Response`, within one process.',
  summary: 'a call through a fetch handler, × bare (less is better)',
  subjects: [
    { ...subject('bare', 'JSON and zod alone', 'bare', { era: 'legacy' }, 'bare'), against: undefined },
    subject('modern', '`mcp()`, modern era', 'ours', modern, 'ours', 1.6),
    subject('legacy', '`mcp()`, a session of the legacy era', 'ours', legacy, 'ours', 1.6),
    subject('official-2', 'official SDK 2, modern era', 'official 2', modern, 'official-2'),
    subject('official-1', 'official SDK 1, no sessions', 'official 1', { era: 'legacy' }, 'official-1'),
    subject(
      'mcp-lite',
      'mcp-lite, no sessions',
      'mcp-lite',
      { era: 'legacy', revision: '2025-06-18', accept: 'application/json' },
      'mcp-lite',
    ),
    subject('tmcp-modern', 'tmcp, modern era, answers as events', 'tmcp', modern, 'tmcp'),
    subject('tmcp-legacy', 'tmcp, a session of the legacy era, answers as events', 'tmcp', legacy, 'tmcp'),
  ],
}
