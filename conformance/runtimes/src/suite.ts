/** The suite that the client of every runtime runs against every server, in one era. */

import { type Client, type ClientOptions, connect } from '@mcpx/client'
import type { Change, Connector, Era } from '@mcpx/protocol'
import type { Desk } from './desk.ts'
import { equal, fails, match } from './expectations.ts'

export interface CheckResult {
  readonly check: string
  /** The error; undefined if the check passed. */
  readonly fault?: string
  /** Whether it is a known failure of the runtime. */
  readonly isLimited?: true
}

/** A check that is known to fail with some clients. */
export interface KnownFailure {
  readonly check: string
  /** A pattern of the error. */
  readonly evidence: string
}

interface CheckContext {
  readonly client: Client<Desk>
  /** Connects another client, which is closed after the check. */
  connect(options: ClientOptions): Promise<Client<Desk>>
  /** The time to wait for a condition that may be a known failure, in milliseconds. */
  readonly waitTimeout: number
}

/** The timeout of one check, in milliseconds; the slowest check waits until a session is resumed. */
const CHECK_TIMEOUT = 8_000

/** The time to wait for conditions, in milliseconds: normally, and for known failures. */
const WAIT_TIMEOUT = 6_000
const SHORT_WAIT_TIMEOUT = 700

/** Runs every check in one era, including known failures. Never rejects. */
export async function runSuite(
  reach: () => Connector,
  era: Era,
  limited: readonly KnownFailure[],
): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  const connected = (options: ClientOptions): Promise<Client<Desk>> =>
    connect<Desk>(reach(), { era, timeout: CHECK_TIMEOUT, ...options })
  const attempt = async (check: string, run: () => Promise<void>): Promise<void> => {
    try {
      await withTimeout(run())
      results.push({ check })
    } catch (error) {
      results.push({ check, fault: describe(error) })
    }
  }
  let client: Client<Desk> | undefined
  await attempt('connects', async () => {
    client = await connected({})
    equal(client.era, era)
    equal(client.server.info?.name, 'desk')
  })
  for (const [check, run] of Object.entries(checks)) {
    if (client === undefined) continue
    const limit = limited.find((each) => each.check === check)
    const rig = {
      client,
      ...createClientPool(connected),
      waitTimeout: limit === undefined ? WAIT_TIMEOUT : SHORT_WAIT_TIMEOUT,
    }
    await attempt(check, () => run(rig).finally(rig.closeAll))
    if (limit !== undefined) results.push(markKnownFailure(results.pop() as CheckResult, limit))
  }
  await attempt('closes', async () => client?.close())
  return results
}

/** Marks a result as known failure if the error matches the pattern. */
function markKnownFailure(result: CheckResult, { evidence }: KnownFailure): CheckResult {
  if (result.fault === undefined || !new RegExp(evidence).test(result.fault)) return result
  return { check: result.check, isLimited: true }
}

/** Closes clients after their check, because browsers open at most six connections to a server. */
function createClientPool(connected: CheckContext['connect']) {
  const open: Client<Desk>[] = []
  return {
    async connect(options: ClientOptions): Promise<Client<Desk>> {
      const client = await connected(options)
      open.push(client)
      return client
    },
    async closeAll(): Promise<void> {
      for (const each of open) await each.close()
    },
  }
}

/** Returns the names of all checks. */
export const checkNames = (): string[] => ['connects', ...Object.keys(checks), 'closes']

/** Makes a request larger than one packet, so that the runtime is still reading it when the client disconnects. */
const ballast = 'x'.repeat(100_000)

const checks: Readonly<Record<string, (rig: CheckContext) => Promise<void>>> = {
  async 'lists tools with their schemas'({ client }) {
    const tools = await client.listTools().all()
    const add = tools.find(({ name }) => name === 'add')
    equal(add?.inputSchema.required, ['a', 'b'])
    equal(add?.outputSchema?.required, ['sum'])
  },

  async 'receives structured output'({ client }) {
    equal(await client.tools.add({ a: 1, b: 2 }), { sum: 3 })
  },

  async 'makes concurrent calls'({ client }) {
    const numbers = Array.from({ length: 20 }, (_, n) => n)
    const sums = await Promise.all(numbers.map((a) => client.tools.add({ a, b: 1 })))
    equal(
      sums,
      numbers.map((a) => ({ sum: a + 1 })),
    )
  },

  async 'transfers long texts of any script'({ client }) {
    const text = 'κόσμε 🦉 \u2028 \0 "\n'.repeat(8_000)
    const { content } = await client.callTool('echo', { text })
    equal(content[0]?.type === 'text' && content[0].text === text, true)
  },

  async 'receives progress and log messages during a call'({ connect }) {
    const logs: unknown[] = []
    const client = await connect({ onLog: ({ data }) => logs.push(data), logLevel: 'info' })
    const steps: number[] = []
    const { content } = await client.callTool(
      'count',
      { to: 3 },
      { onProgress: ({ progress }) => steps.push(progress) },
    )
    equal(steps, [1, 2, 3])
    equal(content, [{ type: 'text', text: 'counted to 3' }])
    equal(logs, ['counted'])
  },

  async 'answers an input request during a call'({ connect }) {
    const client = await connect({ onElicit: () => ({ action: 'accept', content: { row: 7 } }) })
    const to = crypto.randomUUID()
    const { content } = await client.callTool('book', { to })
    equal(content, [{ type: 'text', text: `Row 7 to ${to}, charged 1 time` }])
  },

  async 'declines an input request'({ connect }) {
    const client = await connect({ onElicit: () => ({ action: 'decline' }) })
    const { content } = await client.callTool('book', { to: 'Oslo' })
    equal(content, [{ type: 'text', text: 'Nothing was booked.' }])
  },

  async 'receives an error for invalid arguments'({ client }) {
    const { isError, content } = await client.callTool('add' as string, { a: 'one', b: 2 })
    equal(isError, true)
    match(JSON.stringify(content), /arguments\.a/)
  },

  async 'receives tool errors, and masked unexpected errors'({ client }) {
    const failed = await client.callTool('fail')
    equal(failed, { ...failed, isError: true, content: [{ type: 'text', text: 'There is no more paper.' }] })
    const broken = await client.callTool('break')
    equal(broken.isError, true)
    equal(JSON.stringify(broken).includes('hunter2'), false)
  },

  async 'receives an error for an unknown tool'({ client }) {
    await fails(client.callTool('fly'), { name: 'RpcError', code: -32602 })
  },

  async 'cancels a call with progress, and the server stops'({ client }) {
    const controller = new AbortController()
    const key = crypto.randomUUID()
    const call = client.callTool('wait', { key }, { signal: controller.signal, onProgress: () => controller.abort() })
    await fails(call, { name: 'ConnectionError', reason: 'cancelled' })
    await until(async () => (await client.tools.see({ key })).cancelled, 'the server did not stop')
  },

  async 'cancels a silent call, and the server stops'({ client, waitTimeout }) {
    const controller = new AbortController()
    const key = crypto.randomUUID()
    const call = fails(client.callTool('wait', { key, ballast, isSilent: true }, { signal: controller.signal }), {
      reason: 'cancelled',
    })
    await until(async () => (await client.tools.see({ key })).started, 'the call did not start')
    controller.abort()
    await call
    await until(async () => (await client.tools.see({ key })).cancelled, 'the server did not stop', waitTimeout)
  },

  async 'reads text and binary resources'({ client }) {
    const uri = `counter://${crypto.randomUUID()}`
    equal((await client.readResource(uri)).contents, [{ uri, mimeType: 'application/json', text: '{"count":0}' }])
    const [dot] = (await client.readResource('picture://dot')).contents
    equal(dot !== undefined && 'blob' in dot && dot.blob, 'AH+A/w==')
  },

  async 'receives an update of a resource'({ connect }) {
    const key = crypto.randomUUID()
    const uri = `counter://${key}`
    const { onChange, change } = firstChange()
    const client = await connect({ onChange })
    await client.subscribe(uri)
    await client.callTool('bump', { key })
    equal(await change, { kind: 'resource', uri })
    const [counter] = (await client.readResource(uri, { fresh: true })).contents
    equal(counter !== undefined && 'text' in counter && counter.text, '{"count":1}')
    await client.unsubscribe(uri)
  },

  async 'reads a prompt'({ client }) {
    const { messages } = await client.getPrompt('review', { code: 'x = 1' })
    equal(messages, [{ role: 'user', content: { type: 'text', text: 'Review this:\nx = 1' } }])
  },
}

function firstChange(): { onChange: (change: Change) => void; change: Promise<Change> } {
  let onChange: (change: Change) => void = () => {}
  const change = new Promise<Change>((resolve) => {
    onChange = resolve
  })
  return { onChange, change }
}

/** Waits until a condition is true; rejects with the given message after a timeout. */
async function until(condition: () => Promise<boolean>, message: string, ms = WAIT_TIMEOUT): Promise<void> {
  const end = Date.now() + ms
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${message}, after ${ms} ms`)
    await delay(20)
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function withTimeout(run: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${CHECK_TIMEOUT} ms`)), CHECK_TIMEOUT)
  })
  await Promise.race([run, timedOut]).finally(() => clearTimeout(timer))
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\n  because of ${describe(error.cause)}`
  return `${error.stack ?? error}${cause}`
}
