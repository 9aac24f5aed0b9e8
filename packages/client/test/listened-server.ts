/** A modern server with streams of changes. */

import type { JsonObject, RequestId } from '@mcpx/protocol'
import { type Asked, scriptedServer } from './scripted-server.ts'

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'
export const everything = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
}

export type Tell = (method: string, params?: JsonObject) => void

export interface Subscription {
  filter: JsonObject
  tell: Tell
  end: (result?: object) => void
}

/** A modern server with its open subscriptions. */
export function modernServer(capabilities: JsonObject = everything, followed?: object | Error) {
  const open = new Map<RequestId, Subscription>()
  let refused = 0
  let held: Promise<unknown> | undefined
  const server = scriptedServer('2026-07-28', {
    capabilities,
    answers: {
      'subscriptions/listen': async ({ params, exchange, message }: Asked) => {
        const _meta = { [SUBSCRIPTION_ID]: message.id }
        if (refused-- > 0) return { _meta }
        await held
        if (followed instanceof Error) throw followed
        const filter = params.notifications as JsonObject
        const tell: Tell = (method, rest) => void exchange.notify(`notifications/${method}`, { ...rest, _meta })
        tell('subscriptions/acknowledged', { notifications: followed ?? filter })
        return new Promise((resolve) => {
          open.set(message.id, { filter, tell, end: (result = { _meta }) => resolve(result) })
          exchange.signal.addEventListener('abort', () => open.delete(message.id))
        })
      },
      'tools/list': () => ({ tools: [], ttlMs: 60_000 }),
    },
  })
  const tell: Tell = (method, params) => {
    for (const each of open.values()) each.tell(method, params)
  }
  /** Ends a number of the next streams before they are confirmed. */
  const refuse = (count: number) => {
    refused = count
  }
  /** Confirms the next streams when a promise is settled. */
  const hold = (until: Promise<unknown> | undefined) => {
    held = until
  }
  /** Sets what the next streams follow, or the error that refuses them. Undefined: they follow everything. */
  const follow = (what: object | Error | undefined) => {
    followed = what
  }
  return { server, open, tell, refuse, hold, follow }
}
