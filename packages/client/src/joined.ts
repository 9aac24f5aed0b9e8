/** Several lists as one, and several feeds of changes as one. A server that fails does not silence the others. */

import { type Change, ConnectionError, type SubscriptionFilter } from '@mcpx/protocol'
import { createChangeQueue } from './change-queue.ts'
import type { Listening } from './listening.ts'
import type { Listing } from './pagination.ts'

export interface Part<Source> {
  readonly member: string
  readonly source: Source
}

/** @param fail hears which part failed; the list goes on with the next one. */
export function joinListings<Item>(
  parts: readonly Part<Listing<Item>>[],
  rename: (member: string, item: Item) => Item,
  fail: (member: string, error: Error) => void,
): Listing<Item> {
  async function* pages(): AsyncGenerator<readonly Item[]> {
    for (const { member, source } of parts) {
      try {
        for await (const page of source.pages()) yield page.map((item) => rename(member, item))
      } catch (error) {
        fail(member, error as Error)
      }
    }
  }

  return {
    pages,
    async all() {
      const lists = parts.map(async ({ member, source }) => {
        try {
          return (await source.all()).map((item) => rename(member, item))
        } catch (error) {
          fail(member, error as Error)
          return []
        }
      })
      return (await Promise.all(lists)).flat()
    },
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* page
    },
  }
}

const MOST_WAITING = 10_000

/** Ends when all parts have ended. */
export function joinListenings(
  parts: readonly Part<Listening>[],
  rename: (member: string, change: Change) => Change,
  fail: (member: string, error: Error) => void,
): Listening {
  const queue = createChangeQueue(MOST_WAITING)
  const close = () => {
    for (const { source } of parts) source.close()
  }
  const pump = async ({ member, source }: Part<Listening>) => {
    try {
      for await (const change of source) if (!queue.push(rename(member, change))) close()
    } catch (error) {
      fail(member, error as Error)
    }
  }
  void Promise.all(parts.map(pump)).then(() => queue.end())
  const ready = Promise.allSettled(parts.map(({ source }) => source.ready)).then((settled) =>
    mergeFollowed(
      settled.map((each, index) => ({ ...each, member: parts[index]?.member ?? '' })),
      rename,
    ),
  )
  ready.catch(() => {})

  return {
    ready,
    close,
    next: () => queue.next(),
    async return() {
      close()
      queue.end()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

type Settled = PromiseSettledResult<SubscriptionFilter> & { readonly member: string }

/** What any of the parts follows. Throws when none follows anything. */
function mergeFollowed(parts: readonly Settled[], rename: (member: string, change: Change) => Change) {
  const followed: SubscriptionFilter = {}
  for (const part of parts) {
    if (part.status === 'rejected') continue
    const { resourceSubscriptions = [], ...lists } = part.value
    Object.assign(followed, lists)
    const uris = resourceSubscriptions.map((uri) => rename(part.member, { kind: 'resource', uri }))
    if (uris.length === 0) continue
    followed.resourceSubscriptions ??= []
    followed.resourceSubscriptions.push(...uris.flatMap((change) => (change.kind === 'resource' ? [change.uri] : [])))
  }
  if (Object.keys(followed).length > 0) return followed
  throw new ConnectionError('unsupported', 'No server tells of a change that was asked for')
}
