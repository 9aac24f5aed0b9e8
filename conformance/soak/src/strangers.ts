/** Misbehaving clients: they disconnect during a call, or read responses slowly. */

import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Random } from './random.ts'
import { WrongResult } from './tally.ts'
import { LARGE } from './tools.ts'

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

interface Call {
  readonly url: string
  readonly tool: string
  readonly args?: object
  readonly session?: string | undefined
}

/** Sends a call over a new connection, in a session or in the modern era. */
function sendCall({ url, tool, args = {}, session }: Call): ClientRequest {
  const meta = session === undefined ? META : {}
  const params = { name: tool, arguments: args, _meta: { ...meta, progressToken: 1 } }
  return post(
    url,
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    session === undefined
      ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': tool }
      : { 'mcp-session-id': session },
  )
}

function post(url: string, message: object, headers: Record<string, string>): ClientRequest {
  const sent = request(url, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
  })
  sent.on('error', () => {})
  sent.end(JSON.stringify(message))
  return sent
}

function responseTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => sent.once('response', resolve).once('error', reject))
}

async function openSession(url: string): Promise<string> {
  const clientInfo = { name: 'stranger', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo }
  const response = await responseTo(post(url, { jsonrpc: '2.0', id: 0, method: 'initialize', params }, {}))
  response.resume()
  return String(response.headers['mcp-session-id'])
}

/** Calls a tool that waits for a long time or for an answer, and cuts the connection. Never deletes the session. */
export async function vanish(url: string, { next, below, pick }: Random): Promise<void> {
  const session = next() < 0.5 ? await openSession(url) : undefined
  const tool = pick(['wait', 'ask', 'count', 'work'])
  const sent = sendCall({ url, tool, args: { times: 100 }, session })
  if (session !== undefined) {
    const headers = { accept: 'text/event-stream', 'mcp-session-id': session }
    const stream = request(url, { agent: false, headers }).on('error', () => {})
    stream.end()
    setTimeout(() => stream.destroy(), below(300))
  }
  await pause(below(200))
  sent.destroy()
}

/** Reads a large result in small parts with pauses. */
export async function readSlowly(url: string): Promise<void> {
  const response = await responseTo(sendCall({ url, tool: 'large', args: { size: LARGE } }))
  let length = 0
  for await (const chunk of response) {
    length += chunk.length
    await pause(20)
  }
  if (length < LARGE) throw new WrongResult(`expected ${LARGE} bytes or more, got ${length}`)
}
