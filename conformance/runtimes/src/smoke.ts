/** The one suite that every runtime's client runs: what users do first, in one era, against a server it can reach. */

import { type Client, type ClientOptions, connect } from '@mcpx/client'
import type { Change, Connector, Era } from '@mcpx/protocol'
import type { Desk } from './desk.ts'
import { equal, fails, match } from './expectations.ts'

export interface CheckResult {
  readonly check: string
  /** What went wrong; nothing when it passed. */
  readonly fault?: string
  /** It went wrong as it is known to on this runtime. */
  readonly isLimited?: true
}

/** A check that is known to fail, if not with every client. */
export interface Limited {
  readonly check: string
  /** A pattern of what it fails with. */
  readonly evidence: string
}

interface Smoke {
  readonly client: Client<Desk>
  /** A client of its own with these options. It is closed with the check. */
  connect(options: ClientOptions): Promise<Client<Desk>>
  /** How long to wait for what a runtime may fail at, in ms. */
  readonly patience: number
}

/** How long one check may take, in ms. The slowest of them waits for a session to be resumed. */
const LIMIT = 8_000

/** How long a check waits for something to hold, in ms; for what is known not to: far longer than it would take. */
const PATIENCE = 6_000
const LITTLE_PATIENCE = 700

/** Runs every check in one era, those that are known to fail too. It never rejects. */
export async function smoke(reach: () => Connector, era: Era, limited: readonly Limited[]): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  const connected = (options: ClientOptions): Promise<Client<Desk>> =>
    connect<Desk>(reach(), { era, timeout: LIMIT, ...options })
  const attempt = async (check: string, run: () => Promise<void>): Promise<void> => {
    try {
      await inTime(run())
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
    const rig = { client, ...collecting(connected), patience: limit === undefined ? PATIENCE : LITTLE_PATIENCE }
    await attempt(check, () => run(rig).finally(rig.closeAll))
    if (limit !== undefined) results.push(asKnown(results.pop() as CheckResult, limit))
  }
  await attempt('closes', async () => client?.close())
  return results
}

/** What fails in another way than is known is a fault as any. */
function asKnown(result: CheckResult, { evidence }: Limited): CheckResult {
  if (result.fault === undefined || !new RegExp(evidence).test(result.fault)) return result
  return { check: result.check, isLimited: true }
}

/** Browsers open six connections to a server at most, so none is kept for longer than its check. */
function collecting(connected: Smoke['connect']) {
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

/** The names of all checks, to tell that none was left out. */
export const checkNames = (): string[] => ['connects', ...Object.keys(checks), 'closes']

/** Makes a request more than one packet: what is one may be all read when a runtime notices that its client has gone. */
const ballast = 'x'.repeat(100_000)

const checks: Readonly<Record<string, (rig: Smoke) => Promise<void>>> = {
  async 'lists tools with their schemas'({ client }) {
    const tools = await client.listTools().all()
    const add = tools.find(({ name }) => name === 'add')
    equal(add?.inputSchema.required, ['a', 'b'])
    equal(add?.outputSchema?.required, ['sum'])
  },

  async 'gets structured output'({ client }) {
    equal(await client.tools.add({ a: 1, b: 2 }), { sum: 3 })
  },

  async 'calls many tools at once'({ client }) {
    const numbers = Array.from({ length: 20 }, (_, n) => n)
    const sums = await Promise.all(numbers.map((a) => client.tools.add({ a, b: 1 })))
    equal(
      sums,
      numbers.map((a) => ({ sum: a + 1 })),
    )
  },

  async 'carries long texts of any script'({ client }) {
    const text = 'κόσμε 🦉 \u2028 \0 "\n'.repeat(8_000)
    const { content } = await client.callTool('echo', { text })
    equal(content[0]?.type === 'text' && content[0].text === text, true)
  },

  async 'hears progress and log messages on the way'({ connect }) {
    const logged: unknown[] = []
    const client = await connect({ onLog: ({ data }) => logged.push(data), logLevel: 'info' })
    const heard: number[] = []
    const { content } = await client.callTool(
      'count',
      { to: 3 },
      { onProgress: ({ progress }) => heard.push(progress) },
    )
    equal(heard, [1, 2, 3])
    equal(content, [{ type: 'text', text: 'counted to 3' }])
    equal(logged, ['counted'])
  },

  async 'is asked in the middle of a call'({ connect }) {
    const client = await connect({ onElicit: () => ({ action: 'accept', content: { row: 7 } }) })
    const to = crypto.randomUUID()
    const { content } = await client.callTool('book', { to })
    equal(content, [{ type: 'text', text: `Row 7 to ${to}, charged 1 time` }])
  },

  async 'says no when it is asked'({ connect }) {
    const client = await connect({ onElicit: () => ({ action: 'decline' }) })
    const { content } = await client.callTool('book', { to: 'Oslo' })
    equal(content, [{ type: 'text', text: 'Nothing was booked.' }])
  },

  async 'is told what is wrong with arguments'({ client }) {
    const { isError, content } = await client.callTool('add', { a: 'one', b: 2 })
    equal(isError, true)
    match(JSON.stringify(content), /arguments\.a/)
  },

  async 'is told what a tool says is wrong, and nothing of what broke'({ client }) {
    const failed = await client.callTool('fail')
    equal(failed, { ...failed, isError: true, content: [{ type: 'text', text: 'There is no more paper.' }] })
    const broken = await client.callTool('break')
    equal(broken.isError, true)
    equal(JSON.stringify(broken).includes('hunter2'), false)
  },

  async 'is refused a tool that does not exist'({ client }) {
    await fails(client.callTool('fly'), { name: 'RpcError', code: -32602 })
  },

  async 'cancels a call that speaks, and the server stops'({ client }) {
    const giveUp = new AbortController()
    const key = crypto.randomUUID()
    const call = client.callTool('wait', { key }, { signal: giveUp.signal, onProgress: () => giveUp.abort() })
    await fails(call, { name: 'ConnectionError', reason: 'cancelled' })
    await until(async () => (await client.tools.see({ key })).givenUp, 'the server goes on')
  },

  async 'cancels a silent call, and the server stops'({ client, patience }) {
    const giveUp = new AbortController()
    const key = crypto.randomUUID()
    const call = fails(client.callTool('wait', { key, ballast }, { signal: giveUp.signal }), { reason: 'cancelled' })
    await until(async () => (await client.tools.see({ key })).begun, 'the call has not begun')
    giveUp.abort()
    await call
    await until(async () => (await client.tools.see({ key })).givenUp, 'the server goes on', patience)
  },

  async 'reads resources, text and bytes'({ client }) {
    const uri = `counter://${crypto.randomUUID()}`
    equal((await client.readResource(uri)).contents, [{ uri, mimeType: 'application/json', text: '{"count":0}' }])
    const [dot] = (await client.readResource('picture://dot')).contents
    equal(dot !== undefined && 'blob' in dot && dot.blob, 'AH+A/w==')
  },

  async 'hears of a resource that changed'({ connect }) {
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

  async 'gets a prompt'({ client }) {
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

/** Waits until it holds; rejects with what is said of it otherwise. */
async function until(holds: () => Promise<boolean>, otherwise: string, ms = PATIENCE): Promise<void> {
  const end = Date.now() + ms
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`${otherwise}, after ${ms} ms`)
    await pause(20)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function inTime(run: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${LIMIT} ms`)), LIMIT)
  })
  await Promise.race([run, late]).finally(() => clearTimeout(timer))
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\n  because of ${describe(error.cause)}`
  return `${error.stack ?? error}${cause}`
}
