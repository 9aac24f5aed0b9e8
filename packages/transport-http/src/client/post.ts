/** Sends one message as a POST of its own. */

import { encode, type Message } from '@mcpx/protocol'
import { EVENTS_TYPE, JSON_TYPE } from '../headers.ts'
import type { Outgoing } from './carrier.ts'
import type { Host } from './eras/wire.ts'
import { refusedBy } from './refusals.ts'

/** Resolves to a response, whatever its status. */
export function post(
  { carry }: Pick<Host, 'carry'>,
  message: Message,
  headers: Outgoing['headers'],
  signal: AbortSignal,
  url?: URL,
): Promise<Response> {
  return carry({
    method: 'POST',
    url,
    headers: { accept: `${JSON_TYPE}, ${EVENTS_TYPE}`, 'content-type': JSON_TYPE, ...headers },
    body: encode(message),
    asks: 'method' in message && 'id' in message ? message.method : undefined,
    signal,
  })
}

/** Rejects with `ConnectionError` `refused` unless the server took what needs no answer. */
export async function refuseUnlessTaken(response: Response, message: Message): Promise<void> {
  await response.body?.cancel().catch(() => {})
  if (!response.ok) throw refusedBy(response, 'method' in message ? message.method : 'An answer')
}
