/** What the client as a whole listens to: its subscriptions to resources, and the lists if somebody hears of them. */

import { type Change, ConnectionError, type ServerCapabilities, type SubscriptionFilter } from '@mcpx/protocol'
import type { Listening, ListenOptions } from './listening.ts'
import type { CallOptions } from './options.ts'

export interface Subscriptions {
  subscribe(uri: string, options: CallOptions): Promise<void>
  unsubscribe(uri: string): Promise<void>
  /** Ends the stream and forgets all subscriptions. */
  close(): void
}

export interface SubscriptionsOptions {
  readonly listen: (filter: SubscriptionFilter, options: ListenOptions) => Listening
  readonly capabilities: () => ServerCapabilities
  readonly onChange: ((change: Change) => void) | undefined
  readonly report: (problem: Error) => void
}

/** One stream carries everything; a change of what is wanted begins a new one before it ends the old. */
export function createSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const { onChange, report } = options
  let uris: readonly string[] = []
  let current: Listening | undefined
  let turn: Promise<void> = Promise.resolve()

  /** One after the other, each from what the one before has left. */
  function change(next: (uris: readonly string[]) => readonly string[], call: CallOptions): Promise<void> {
    const done = turn.then(() => {
      const wanted = next(uris)
      return wanted === uris && current !== undefined ? undefined : replace(wanted, call)
    })
    turn = done.catch(() => {})
    return done
  }

  async function replace(wanted: readonly string[], { timeout }: CallOptions): Promise<void> {
    const filter = filterOf(wanted, onChange === undefined ? {} : options.capabilities())
    const next = Object.keys(filter).length === 0 ? undefined : options.listen(filter, { timeout })
    const followed = await next?.ready
    if (wanted.length > 0 && followed?.resourceSubscriptions === undefined) {
      next?.close()
      throw new ConnectionError('unsupported', 'The server does not tell of updates of resources')
    }
    uris = wanted
    const last = current
    current = next
    if (next !== undefined) void tell(next)
    last?.close()
  }

  async function tell(changes: Listening): Promise<void> {
    try {
      for await (const each of changes) {
        if (changes === current) onChange?.(each)
      }
    } catch (error) {
      report(error as Error)
    }
    if (changes === current) current = undefined
  }

  if (onChange !== undefined) change((same) => same, {}).catch(report)
  return {
    async subscribe(uri, call) {
      await change((known) => (known.includes(uri) ? known : [...known, uri]), call)
    },
    close() {
      uris = []
      current?.close()
      current = undefined
    },
    unsubscribe: (uri) => change((known) => known.filter((each) => each !== uri), {}),
  }
}

function filterOf(uris: readonly string[], { tools, prompts, resources }: ServerCapabilities): SubscriptionFilter {
  return {
    ...(tools?.listChanged && { toolsListChanged: true }),
    ...(prompts?.listChanged && { promptsListChanged: true }),
    ...(resources?.listChanged && { resourcesListChanged: true }),
    ...(uris.length > 0 && { resourceSubscriptions: [...uris] }),
  }
}
