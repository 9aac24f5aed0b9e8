/** Node's own `fetch` with its five minutes made short, so that what is silent for long can be tried in seconds. */

/** How long the runtime lets an answer or a body be silent, in ms. Its timers run once a second. */
export const SILENCE = 1_000

interface Agent {
  close(): Promise<void>
}

const DISPATCHER = Symbol.for('undici.globalDispatcher.1')
const runtime = globalThis as unknown as Record<symbol, Agent>

/** What sends the requests of `fetch`, as impatient as can be. */
async function impatientAgent(): Promise<Agent> {
  await fetch('data:,')
  const Made = runtime[DISPATCHER]?.constructor as new (options: object) => Agent
  return new Made({ bodyTimeout: SILENCE, headersTimeout: SILENCE })
}

/** Has one client be impatient: what is passed by its user is not changed. */
export async function impatient(): Promise<RequestInit> {
  return { dispatcher: await impatientAgent() } as RequestInit
}

/** Has all of `fetch` be impatient, as it comes with the runtime; gives what ends that. */
export async function becomeImpatient(): Promise<() => void> {
  const agent = await impatientAgent()
  const before = runtime[DISPATCHER] as Agent
  runtime[DISPATCHER] = agent
  return () => {
    runtime[DISPATCHER] = before
  }
}
