/** Node's `fetch` with short timeouts instead of five minutes, for tests of silent responses. */

/** The timeout for headers and bodies, in milliseconds. undici's timers run once a second. */
export const SILENCE = 1_000

interface Agent {
  close(): Promise<void>
}

const DISPATCHER = Symbol.for('undici.globalDispatcher.1')
const runtime = globalThis as unknown as Record<symbol, Agent>

/** Creates a dispatcher for `fetch` with the given timeout in milliseconds; 0 means none. */
async function createAgent(silence: number): Promise<Agent> {
  await fetch('data:,')
  const AgentClass = runtime[DISPATCHER]?.constructor as new (options: object) => Agent
  return new AgentClass({ bodyTimeout: silence, headersTimeout: silence })
}

/** Creates a `fetch` without timeouts, like one that a user passes. */
export async function createFetchWithoutTimeouts(): Promise<typeof fetch> {
  const dispatcher = await createAgent(0)
  return (input, init) => fetch(input, { ...init, dispatcher } as RequestInit)
}

/** Creates an `init` with a short timeout for one client. */
export async function initWithShortTimeouts(): Promise<RequestInit> {
  return { dispatcher: await createAgent(SILENCE) } as RequestInit
}

/** Gives the global `fetch` a short timeout; returns a function that restores it. */
export async function shortenFetchTimeouts(): Promise<() => void> {
  const agent = await createAgent(SILENCE)
  const before = runtime[DISPATCHER] as Agent
  runtime[DISPATCHER] = agent
  return () => {
    runtime[DISPATCHER] = before
  }
}
