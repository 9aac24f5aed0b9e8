/** The operations of a connected client, and the checks of their results. */

import type { CallToolResult, Client } from '@mcpx/client'
import { type Revision, RpcError } from '@mcpx/protocol'
import type { Random } from './random.ts'
import { WrongResult } from './tally.ts'
import { LARGE, NOTES, WATCHED } from './tools.ts'

/** An operation. It rejects with `WrongResult` if the result is not the expected one. */
export interface Operation {
  readonly name: string
  /** The frequency of the operation, relative to the other operations. */
  readonly weight: number
  /** Whether the operation is as fast as a plain call. Only such operations are measured. */
  readonly isQuick?: boolean
  /** The oldest revision that has the operation. Default: all revisions have it. */
  readonly since?: Revision
  run(client: Client, random: Random): Promise<void>
}

function expectText({ content }: CallToolResult, expected: string | number): void {
  const [block] = content
  const text = block?.type === 'text' ? block.text : ''
  const isExpected = typeof expected === 'number' ? text.length === expected : text === expected
  if (!isExpected) throw new WrongResult(`expected ${expected}, got ${text.slice(0, 100)} (${text.length})`)
}

function expectEqual(actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new WrongResult(`expected ${String(expected)}, got ${String(actual)}`)
}

/** The error that the server must respond with. */
async function expectError(work: Promise<unknown>, code: number): Promise<void> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof RpcError && error.code === code) return
  if (error !== undefined) throw error
  throw new WrongResult(`expected the error ${code}, got a result`)
}

async function cancel(client: Client, { below }: Random): Promise<void> {
  const stop = new AbortController()
  const reason = new Error('cancelled by the test')
  const timer = setTimeout(() => stop.abort(reason), 1 + below(50))
  try {
    await client.callTool('wait', {}, { signal: stop.signal })
  } catch (error) {
    if (stop.signal.aborted) return
    throw error
  } finally {
    clearTimeout(timer)
  }
  throw new WrongResult('expected a cancelled call, got a result')
}

async function count(client: Client): Promise<void> {
  const times = 5
  const received: number[] = []
  const onProgress = ({ progress }: { progress: number }) => void received.push(progress)
  expectText(await client.callTool('count', { times }, { onProgress, onLog: () => {} }), 'counted')
  // A fault may repeat a notification, or break the stream before the last notifications.
  const isOrdered = received.every((progress, index) => progress >= (received[index - 1] ?? 1) && progress <= times)
  if (!isOrdered) throw new WrongResult(`expected ascending progress, got ${received.join()}`)
}

export const operations: readonly Operation[] = [
  {
    name: 'call',
    weight: 30,
    isQuick: true,
    async run(client, { below }) {
      const text = `text ${below(1e9)}`
      expectText(await client.callTool('echo', { text }), text)
    },
  },
  {
    name: 'structured call',
    weight: 10,
    since: '2025-06-18',
    isQuick: true,
    async run(client, { below }) {
      const [a, b] = [below(1_000), below(1_000)]
      const { structuredContent } = await client.callTool('sum', { a, b })
      expectEqual((structuredContent as { sum?: number } | undefined)?.sum, a + b)
    },
  },
  {
    name: 'list tools',
    weight: 4,
    isQuick: true,
    run: async (client) => expectEqual((await client.listTools({ fresh: true }).all()).length > 8, true),
  },
  {
    name: 'list resources',
    weight: 4,
    run: async (client) =>
      expectEqual((await client.listResources({ fresh: true }).all()).length, NOTES + WATCHED.length),
  },
  {
    name: 'read a resource',
    weight: 8,
    isQuick: true,
    async run(client, { below }) {
      const n = below(NOTES)
      const [contents] = (await client.readResource(`note://${n}`)).contents
      expectEqual(contents && 'text' in contents && contents.text, `note ${n}`)
    },
  },
  {
    name: 'get a prompt',
    weight: 4,
    isQuick: true,
    run: async (client) => expectEqual((await client.getPrompt('greet', { name: 'Ada' })).messages.length, 1),
  },
  {
    name: 'complete',
    weight: 2,
    isQuick: true,
    async run(client) {
      const ref = { type: 'ref/prompt', name: 'greet' } as const
      const { completion } = await client.complete({ ref, argument: { name: 'name', value: 'A' } })
      expectEqual(completion.values[0], 'Ada')
    },
  },
  { name: 'call with progress', weight: 8, run: count },
  {
    name: 'call with two questions',
    weight: 8,
    since: '2025-06-18',
    run: async (client) => expectText(await client.callTool('ask'), 'Ada Ada'),
  },
  { name: 'cancelled call', weight: 6, run: cancel },
  {
    name: 'large result',
    weight: 2,
    run: async (client) => expectText(await client.callTool('large', { size: LARGE }), LARGE),
  },
  {
    name: 'large arguments',
    weight: 2,
    run: async (client) => expectText(await client.callTool('echo', { text: 'x'.repeat(LARGE) }), LARGE),
  },
  {
    name: 'failing tool',
    weight: 3,
    isQuick: true,
    run: async (client) => expectEqual((await client.callTool('fail')).isError, true),
  },
  { name: 'unknown tool', weight: 2, isQuick: true, run: (client) => expectError(client.callTool('none'), -32602) },
  { name: 'task', weight: 4, run: async (client) => expectText(await client.callTool('work'), 'one part') },
  {
    name: 'subscription',
    weight: 3,
    async run(client, { below }) {
      const uri = `note://${below(NOTES)}`
      await client.subscribe(uri)
      expectText(await client.callTool('touch', { uri }), 'touched')
      await client.unsubscribe(uri)
    },
  },
  {
    name: 'list change',
    weight: 1,
    run: async (client) => expectEqual((await client.callTool('grow')).isError ?? false, false),
  },
]

/** Returns an operation that the revision has. Revisions are dates, so string comparison orders them. */
export function pickOperation(revision: Revision, { below }: Random): Operation {
  const known = operations.filter(({ since = revision }) => since <= revision)
  let at = below(known.reduce((sum, { weight }) => sum + weight, 0))
  for (const operation of known) {
    at -= operation.weight
    if (at < 0) return operation
  }
  throw new RangeError(`${revision}: expected a revision with operations`)
}
