/** Chooses the era of what arrived, by its body first and its headers second. Only this file knows both. */

import { type Awaitable, claimsModern, invalidRequest, type Message, type Refusal } from '@mcpx/protocol'
import { refusal } from '../answers.ts'
import type { Host, Inbound } from '../host.ts'
import { createLegacy, type Legacy } from './legacy.ts'
import { namesModern, postModern, refuseUnclaimed } from './modern.ts'

export interface Eras {
  post(arrived: Message | (Message | Refusal)[], inbound: Inbound): Awaitable<Response>
  /** Answers a method other than POST; absent where POST is the only one. */
  other?: ((inbound: Inbound) => Awaitable<Response>) | undefined
  /** Ends the streams that carry no answer. */
  endFeeds(): void
  /** Ends what outlives single requests. */
  close(reason: Error): void
}

export function createEras(host: Host): Eras {
  const legacy = host.options.legacy === false ? undefined : createLegacy(host)
  return {
    post: (arrived, inbound) =>
      Array.isArray(arrived) ? postBatch(arrived, inbound, legacy) : postMessage(arrived, inbound, host, legacy),
    other: legacy && ((inbound) => legacy.other(inbound)),
    endFeeds: () => legacy?.endFeeds(),
    close: (reason) => legacy?.close(reason),
  }
}

function postBatch(items: (Message | Refusal)[], inbound: Inbound, legacy: Legacy | undefined): Awaitable<Response> {
  if (legacy !== undefined && !items.some(claimsModern) && !namesModern(inbound)) return legacy.post(items, inbound)
  return refusal(400, invalidRequest('Invalid message: expected one message, got an array of them'))
}

function postMessage(message: Message, inbound: Inbound, host: Host, legacy: Legacy | undefined): Awaitable<Response> {
  if (!('method' in message)) {
    if (legacy !== undefined) return legacy.post(message, inbound)
    return refusal(400, invalidRequest('Invalid message: nothing was asked that could be answered'))
  }
  const isModern = claimsModern(message) || (message.method !== 'initialize' && namesModern(inbound))
  if (isModern) return postModern(message, inbound, host)
  if (legacy !== undefined) return legacy.post(message, inbound)
  return 'id' in message ? refuseUnclaimed(message, inbound) : postModern(message, inbound, host)
}
