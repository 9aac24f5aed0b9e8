/** What every server of the features offers, whoever's package it is made with. */

export const info = {
  name: 'shop',
  title: 'The shop',
  version: '1.0.0',
  icons: [{ src: 'https://shop.example/icon.png', mimeType: 'image/png', sizes: ['48x48'] }],
}
export const instructions = 'Ask for what you want.'

/** The tools of every shop, in the order of their names; those that grow come on top. */
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

/** The styles of a greeting depend on who is greeted. */
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

/** A field of each kind that forms have had from the first. */
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

/** The choices that came later. */
export const choices = {
  type: 'object' as const,
  properties: {
    colour: { type: 'string' as const, oneOf: [{ const: 'r', title: 'Red' }] },
    tags: { type: 'array' as const, items: { type: 'string' as const, enum: ['new', 'old'] }, minItems: 1 },
    tastes: { type: 'array' as const, items: { anyOf: [{ const: 'sweet', title: 'Sweet' }] } },
  },
  required: ['colour'],
}

/** What a model may use while it writes. */
export const clock = { name: 'clock', description: 'Says the time', inputSchema: { type: 'object' as const } }

/** What calls that wait have seen, by a tag that the caller chooses. */
export interface Waits {
  started: string[]
  stopped: string[]
  /** Those that may go on. */
  released: string[]
}

/** Nobody waits yet. */
export function noWaits(): Waits {
  return { started: [], stopped: [], released: [] }
}

/**
 * Waits until the caller says so: the official clients forget progress that arrives in one piece with the answer, so
 * the answer has to wait until they have heard of it.
 */
export async function untilReleased(waits: Waits, tag: string, signal: AbortSignal): Promise<void> {
  while (!waits.released.includes(tag) && !signal.aborted) await pause(5)
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Ends when the signal fires. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** What a handler that tells of its progress needs. */
interface Teller {
  readonly signal: AbortSignal
  progress(done: number, total: number): unknown
}

/** Tells three steps, with a pause behind each. */
export async function tellSlowly(teller: Teller): Promise<string> {
  for (const done of [1, 2, 3]) {
    await teller.progress(done, 3)
    await pause(60)
  }
  return 'made it'
}

/** Tells two steps; two when the caller says that it lost the stream; and two when it says that it is back. */
export async function tellInParts(tag: string, waits: Waits, teller: Teller): Promise<string> {
  const pair = async (first: number) => {
    await teller.progress(first, 6)
    await teller.progress(first + 1, 6)
  }
  const until = (what: string) => untilReleased(waits, `${tag} ${what}`, teller.signal)
  await pair(1)
  await until('lost')
  await pair(3)
  waits.started.push(`${tag} told`)
  await until('back')
  await pair(5)
  await until('over')
  return 'made it'
}
