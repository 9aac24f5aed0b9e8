/** Prepares a server for calls: in the legacy era with the handshake. */
import type { Connection } from './connection.ts'
import { initializeParams, type Manner, messagesIn, post, type Target, textOf } from './requests.ts'

/** The target, with its session in the legacy era. */
export async function openSession(connection: Connection, port: number, manner: Manner): Promise<Target> {
  const target: Target = { ...manner, port }
  if (manner.era === 'modern') return target
  const reply = await connection.request(post(target, 'initialize', initializeParams(manner.revision), 1))
  const [answered] = messagesIn(reply)
  if (answered?.result?.protocolVersion === undefined) throw new Error(`Not initialized: ${JSON.stringify(answered)}`)
  const session = /\r\nmcp-session-id: *([^\r\n]+)/i.exec(reply.headers)?.[1]
  if (manner.hasSession && session === undefined) throw new Error('The server returned no session id')
  const open: Target = manner.hasSession ? { ...target, session } : target
  messagesIn(await connection.request(post(open, 'notifications/initialized')))
  return open
}

/** Calls `add` once; throws if the sum is wrong. */
export async function expectSum(connection: Connection, target: Target): Promise<void> {
  const reply = await connection.request(post(target, 'tools/call', { name: 'add', arguments: { a: 2, b: 3 } }, 2))
  const text = textOf(messagesIn(reply).at(-1))
  if (text !== '5') throw new Error(`2 and 3 are not ${text}`)
}
