/** What the client as a whole listens to: its subscriptions to resources, and the lists if somebody hears of them. */

import { type Change, ConnectionError, pause, type ServerCapabilities, type SubscriptionFilter } from '@mcpx/protocol'
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

/** A stream that the server ends before that, in ms, is begun again after a pause, which is longer each time. */
const SOON = 5_000
const SHORTEST_PAUSE = 500
const LONGEST_PAUSE = 30_000

/** One stream carries everything; a change of what is wanted begins a new one before it ends the old. */
export function createSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const { onChange, report } = options
  let uris: readonly string[] = []
  let current: Listening | undefined
  let turn: Promise<void> = Promise.resolve()
  const closing = new AbortController()
  const rest = createRest(closing.signal)

  /** One after the other, each from what the one before has left. */
  function change(next: (uris: readonly string[]) => readonly string[], call: ListenOptions): Promise<void> {
    const done = turn.then(() => {
      const wanted = next(uris)
      return wanted === uris && current !== undefined ? undefined : replace(wanted, call)
    })
    turn = done.catch(() => {})
    return done
  }

  async function replace(wanted: readonly string[], { timeout, isAgain }: ListenOptions): Promise<void> {
    const filter = filterOf(wanted, onChange === undefined ? {} : options.capabilities())
    const next = Object.keys(filter).length === 0 ? undefined : options.listen(filter, { timeout, isAgain })
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
    const begun = Date.now()
    let isOver = false
    try {
      for await (const each of changes) {
        if (changes === current) onChange?.(each)
      }
    } catch (error) {
      isOver = true
      report(error as Error)
    }
    if (changes !== current) return
    current = undefined
    if (!isOver) await goOn(begun)
  }

  /** The server has ended the stream in good order, as one does that another will stand for. */
  async function goOn(begun: number): Promise<void> {
    try {
      await rest(begun)
      await change((same) => same, { isAgain: true })
    } catch (error) {
      if (!closing.signal.aborted && (error as ConnectionError).reason !== 'closed') report(error as Error)
    }
  }

  if (onChange !== undefined) change((same) => same, {}).catch(report)
  return {
    async subscribe(uri, call) {
      await change((known) => (known.includes(uri) ? known : [...known, uri]), call)
    },
    close() {
      closing.abort()
      uris = []
      current?.close()
      current = undefined
    },
    unsubscribe: (uri) => change((known) => known.filter((each) => each !== uri), {}),
  }
}

/** How to wait before the next stream, by when the last one began. */
function createRest(signal: AbortSignal): (begun: number) => Promise<void> {
  /** How often in a row one was ended soon. */
  let ends = 0
  return async (begun) => {
    ends = Date.now() - begun < SOON ? ends + 1 : 0
    if (ends > 0) await pause(Math.min(SHORTEST_PAUSE * 2 ** (ends - 1), LONGEST_PAUSE), signal)
    signal.throwIfAborted()
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
