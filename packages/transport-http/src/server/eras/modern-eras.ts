/** What arrived goes to the modern era, or to an older one that is served besides: by its body first, its headers second. */

import { type Awaitable, claimsModern, invalidRequest, type Message, type Refusal } from '@mcpx/protocol'
import { notAllowed, refusal } from '../answers.ts'
import type { Host, Inbound } from '../host.ts'
import type { HttpAnswer } from '../http-answer.ts'
import type { Eras, SessionEra } from './era.ts'
import { namesModern, postModern, refuseUnclaimed } from './modern.ts'

export function createModernEras(host: Host, older?: SessionEra): Eras {
  return {
    post: (arrived, inbound) =>
      Array.isArray(arrived) ? postBatch(arrived, inbound, older) : postMessage(arrived, inbound, host, older),
    other: older && ((inbound) => (namesModern(inbound) ? notAllowed('POST') : older.other(inbound))),
    endFeeds: () => older?.endFeeds(),
    close: (reason) => older?.close(reason),
  }
}

function postBatch(
  items: (Message | Refusal)[],
  inbound: Inbound,
  older: SessionEra | undefined,
): Awaitable<HttpAnswer> {
  if (older !== undefined && !items.some(claimsModern) && !namesModern(inbound)) return older.post(items, inbound)
  return refusal(400, invalidRequest('Invalid message: expected one message, got an array of them'))
}

function postMessage(
  message: Message,
  inbound: Inbound,
  host: Host,
  older: SessionEra | undefined,
): Awaitable<HttpAnswer> {
  if (!('method' in message)) {
    if (older !== undefined) return older.post(message, inbound)
    return refusal(400, invalidRequest('Invalid message: nothing was asked that could be answered'))
  }
  const isModern = claimsModern(message) || (message.method !== 'initialize' && namesModern(inbound))
  if (isModern) return postModern(message, inbound, host)
  if (older !== undefined) return older.post(message, inbound)
  return 'id' in message ? refuseUnclaimed(message, inbound) : postModern(message, inbound, host)
}
