/** Node's own `fetch` with its five minutes made short, so that what is silent for long can be tried in seconds. */

/** How long the runtime lets an answer or a body be silent, in ms. Its timers run once a second. */
export const SILENCE = 1_000

interface Agent {
  close(): Promise<void>
}

const DISPATCHER = Symbol.for('undici.globalDispatcher.1')
const runtime = globalThis as unknown as Record<symbol, Agent>

/** Creates a dispatcher for `fetch` that gives up what is silent for so long, in ms; 0: never. */
async function createAgent(silence: number): Promise<Agent> {
  await fetch('data:,')
  const Made = runtime[DISPATCHER]?.constructor as new (options: object) => Agent
  return new Made({ bodyTimeout: silence, headersTimeout: silence })
}

/** Creates a `fetch` that never gives up what is silent, as its user may pass one. */
export async function patientFetch(): Promise<typeof fetch> {
  const dispatcher = await createAgent(0)
  return (input, init) => fetch(input, { ...init, dispatcher } as RequestInit)
}

/** Has one client be impatient: what is passed by its user is not changed. */
export async function impatient(): Promise<RequestInit> {
  return { dispatcher: await createAgent(SILENCE) } as RequestInit
}

/** Has all of `fetch` be impatient, as it comes with the runtime; gives what ends that. */
export async function becomeImpatient(): Promise<() => void> {
  const agent = await createAgent(SILENCE)
  const before = runtime[DISPATCHER] as Agent
  runtime[DISPATCHER] = agent
  return () => {
    runtime[DISPATCHER] = before
  }
}
