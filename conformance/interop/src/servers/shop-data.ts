/** The content of the shop server, which is implemented with each SDK. */

export const info = {
  name: 'shop',
  title: 'The shop',
  version: '1.0.0',
  icons: [{ src: 'https://shop.example/icon.png', mimeType: 'image/png', sizes: ['48x48'] }],
}
export const instructions = 'Ask for what you want.'

/** The tools of every shop, sorted by name. Tools that `grow` adds are not included. */
export const tools: readonly string[] = [
  ...[
    'add',
    'ask',
    'ask-both',
    'ask-choices',
    'ask-fields',
    'ask-twice',
    'contents',
    'echo',
    'fail',
    'folders',
    'grow',
  ],
  ...['parts', 'region', 'release', 'slow', 'steps', 'talk', 'touch', 'visit', 'wait', 'waits', 'who', 'write'],
  'write-with-tools',
]

export const PIXEL = 'iVBORw0KGgo='
export const SOUND = 'UklGRg=='
export const notes: readonly string[] = ['1', '2', '3', '4', '5']
export const items: readonly string[] = ['apple', 'apricot', 'banana']
export const names: readonly string[] = ['Ada', 'Alan', 'Bob']

/** Returns the styles of a greeting, which depend on the name. */
export function stylesFor(name: string | undefined): string[] {
  return name === 'Ada' ? ['formal'] : ['formal', 'friendly']
}

export const form = {
  type: 'object' as const,
  properties: {
    name: { type: 'string' as const, title: 'Name', minLength: 1 },
    age: { type: 'integer' as const, minimum: 0 },
  },
  required: ['name'],
}

/** A form with every field type of 2025-06-18. */
export const fields = {
  type: 'object' as const,
  properties: {
    words: { type: 'string' as const, minLength: 1, maxLength: 20 },
    mail: { type: 'string' as const, format: 'email' as const },
    site: { type: 'string' as const, format: 'uri' as const },
    day: { type: 'string' as const, format: 'date' as const },
    moment: { type: 'string' as const, format: 'date-time' as const },
    ratio: { type: 'number' as const, minimum: 0, maximum: 1 },
    agreed: { type: 'boolean' as const, default: false },
    size: { type: 'string' as const, enum: ['s', 'm'], enumNames: ['Small', 'Medium'] },
  },
  required: ['words', 'agreed'],
}

/** A form with the enums of 2025-11-25. */
export const choices = {
  type: 'object' as const,
  properties: {
    colour: { type: 'string' as const, oneOf: [{ const: 'r', title: 'Red' }] },
    tags: { type: 'array' as const, items: { type: 'string' as const, enum: ['new', 'old'] }, minItems: 1 },
    tastes: { type: 'array' as const, items: { anyOf: [{ const: 'sweet', title: 'Sweet' }] } },
  },
  required: ['colour'],
}

/** The tool that sampling requests offer. */
export const clock = { name: 'clock', description: 'Returns the time', inputSchema: { type: 'object' as const } }

/** The state of waiting calls, by a tag that the caller chooses. */
export interface WaitState {
  started: string[]
  stopped: string[]
  /** The tags of calls that may continue. */
  released: string[]
}

/** Creates an empty state. */
export function createWaitState(): WaitState {
  return { started: [], stopped: [], released: [] }
}

/** Waits until the caller releases the tag. The official clients drop progress that arrives in the same chunk as the result,
 * so the result waits until the progress has been received.
 */
export async function untilReleased(waits: WaitState, tag: string, signal: AbortSignal): Promise<void> {
  while (!waits.released.includes(tag) && !signal.aborted) await pause(5)
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Resolves when the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** The part of a handler's context that reports progress. */
interface ProgressContext {
  readonly signal: AbortSignal
  progress(done: number, total: number): unknown
}

/** Reports three steps with pauses. */
export async function reportSlowly(context: ProgressContext): Promise<string> {
  for (const done of [1, 2, 3]) {
    await context.progress(done, 3)
    await pause(60)
  }
  return 'made it'
}

/** Reports two steps, two more after the caller has lost the stream, and two more after it has resumed it. */
export async function reportInParts(tag: string, waits: WaitState, context: ProgressContext): Promise<string> {
  const pair = async (first: number) => {
    await context.progress(first, 6)
    await context.progress(first + 1, 6)
  }
  const until = (phase: string) => untilReleased(waits, `${tag} ${phase}`, context.signal)
  await pair(1)
  await until('lost')
  await pair(3)
  waits.started.push(`${tag} told`)
  await until('back')
  await pair(5)
  await until('over')
  return 'made it'
}
