/** The steps of a transcript: how values are redacted and compared, and which step belongs to a request. */

import { ConnectionError, isObject, type JsonObject, kindOf, quoted, redactSecrets } from '@mcpx/protocol'
import { findDifferences, isEqual, listDifferences } from '../check.ts'
import type { Step } from './observe.ts'

/** The format of transcripts. */
export const FORMAT = 'mcpx transcript 1'

/** A recorded dialogue. It is plain JSON. */
export interface Transcript {
  /** The version of the format. */
  readonly format: string
  /** The steps, in order. */
  readonly steps: readonly Step[]
}

/** Options of transcripts. */
export interface RecordOptions {
  /**
   * Replaces values before they are stored or compared, in addition to the secrets that are always redacted. Called with
   * the name and the value of each member, as the replacer of `JSON.stringify`. Use it for personal data, and for values
   * that differ in each run, such as times. Default: replaces nothing.
   */
  readonly redact?: ((name: string, value: unknown) => unknown) | undefined
}

/** A replacer of `JSON.stringify`. */
export type Replacer = (name: string, value: unknown) => unknown

export function createReplacer(redact: RecordOptions['redact']): Replacer {
  if (redact !== undefined && typeof redact !== 'function') {
    throw new TypeError(`redact: expected a function (name, value) => value, got ${kindOf(redact)}`)
  }
  return (name, value) => {
    const replaced = redact === undefined ? value : redact(name, value)
    return keepNumbers(replaced, redactSecrets(name, replaced))
  }
}

/** Redacted numbers become 0 instead of a string, so that structured content still matches its schema. */
function keepNumbers(original: unknown, redacted: unknown): unknown {
  if (Object.is(original, redacted)) return original
  if (typeof original === 'number') return typeof redacted === 'number' ? redacted : 0
  if (Array.isArray(original) && Array.isArray(redacted)) {
    return redacted.map((item, index) => keepNumbers(original[index], item))
  }
  if (!isObject(original) || !isObject(redacted)) return redacted
  return Object.fromEntries(Object.entries(redacted).map(([name, item]) => [name, keepNumbers(original[name], item)]))
}

/**
 * Members of parameters that differ between versions of the client, and between runs of a program. A client with other
 * capabilities can also replay a transcript, because a new version of a client may add capabilities.
 */
const VOLATILE: readonly string[] = [
  'clientInfo',
  'io.modelcontextprotocol/clientInfo',
  'io.modelcontextprotocol/clientCapabilities',
  'io.modelcontextprotocol/logLevel',
  'progressToken',
  'traceparent',
  'tracestate',
  'baggage',
]
/** Members that a server chooses anew in each run. */
const CHOSEN_BY_SERVER: readonly string[] = ['requestState', 'taskId', 'createdAt', 'lastUpdatedAt']

/** Members with data of users and tools, and schemas of it. Their own members never count as volatile. */
const DATA: readonly string[] = [
  'arguments',
  'content',
  'contents',
  'data',
  'structuredContent',
  'inputSchema',
  'outputSchema',
  'requestedSchema',
]

/** Returns a copy of a message without these members. Copies data as it is. */
function withoutMembers(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutMembers(item, names))
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([name]) => !names.includes(name))
  return Object.fromEntries(
    kept.map(([name, member]) => [name, DATA.includes(name) ? member : withoutMembers(member, names)]),
  )
}

/** The requests that open a connection, each in one era. */
const OPENING: readonly string[] = ['server/discover', 'initialize']

/** A request of the client. */
export type RecordedCall = Extract<Step, { from: 'client'; call: number; method: string }>
/** A message of the server: a notification or a question. */
export interface ServerMessage {
  readonly method: string
  readonly params?: JsonObject
  readonly call?: number
  readonly question?: number
}

/** Options of `RecordedSteps`. */
interface Reading extends RecordOptions {
  /** How errors name the transcript, such as `replay shop.json`. */
  readonly place: string
  /** Whether members that a server chooses anew in each run are ignored. */
  readonly ignoresChosen?: boolean
}

/** The steps of a transcript, of which each is used once. */
export class RecordedSteps {
  readonly steps: readonly Step[]
  readonly place: string
  readonly #replacer: Replacer
  readonly #ignored: readonly string[]
  readonly #used = new Set<Step>()

  /** @throws TypeError if the value is not a transcript */
  constructor(transcript: Transcript, { place, redact, ignoresChosen = false }: Reading) {
    if (transcript?.format !== FORMAT || !Array.isArray(transcript.steps)) {
      const got = typeof transcript?.format === 'string' ? quoted(transcript.format) : 'another value'
      throw new TypeError(
        `${place}: expected a transcript of the format "${FORMAT}", got ${got}; record it again, for example with MCPX_RECORD=1`,
      )
    }
    const senders: unknown[] = ['client', 'server'] satisfies Step['from'][]
    const broken = transcript.steps.findIndex((step: unknown) => !isObject(step) || !senders.includes(step.from))
    if (broken >= 0) {
      throw new TypeError(`${place}, steps[${broken}]: expected a message "from" a client or a server; record it again`)
    }
    this.steps = transcript.steps
    this.place = place
    this.#replacer = createReplacer(redact)
    this.#ignored = ignoresChosen ? [...VOLATILE, ...CHOSEN_BY_SERVER] : VOLATILE
  }

  isUsed(step: Step): boolean {
    return this.#used.has(step)
  }

  use(step: Step): void {
    this.#used.add(step)
  }

  /**
   * Returns the first request with this method and these parameters that was not used yet, and uses it. Throws an error
   * that describes the differences to the most similar request.
   */
  useCall(method: string, params: JsonObject | undefined): RecordedCall {
    const calls = this.steps.filter((step): step is RecordedCall => isCall(step, method))
    if (calls.length === 0 && OPENING.includes(method)) {
      throw this.createError([`expected a transcript of a connection of this era, got none; record one file per era`])
    }
    const sent = this.#normalizeParams(method, params)
    const rest = calls.filter((step) => !this.#used.has(step))
    const found = rest.find((step) => isEqual(this.#normalizeParams(method, step.params), sent))
    if (found !== undefined) {
      this.#used.add(found)
      return found
    }
    const [nearest] = rest
      .map((step) => findDifferences(`${method}, params`, sent, this.#normalizeParams(method, step.params)))
      .toSorted((left, right) => left.length - right.length)
    throw this.createError(
      nearest ?? [
        `expected at most ${calls.length} ${method} ${calls.length === 1 ? 'request' : 'requests'}, got another one`,
      ],
      'Record the transcript again if the client has changed, for example with MCPX_RECORD=1.',
    )
  }

  /** Uses the recorded notification of the client with this method and these parameters. */
  useNotification(method: string, params: JsonObject | undefined): Step | undefined {
    const sent = this.#normalize(params)
    const found = this.steps.find(
      (step) => isNotification(step, method) && !this.#used.has(step) && isEqual(this.#normalize(step.params), sent),
    )
    if (found !== undefined) this.#used.add(found)
    return found
  }

  /** Returns the differences of two values, each in one line. */
  compare(place: string, received: unknown, expected: unknown): string[] {
    return findDifferences(place, this.#normalize(received), this.#normalize(expected))
  }

  createError(differences: readonly string[], hint?: string): ConnectionError {
    const message = `${this.place}: ${listDifferences(differences)}`
    return new ConnectionError('unsupported', message, hint === undefined ? {} : { hint })
  }

  #normalizeParams(method: string, params: JsonObject | undefined): unknown {
    return this.#normalize(method === 'initialize' ? { ...params, capabilities: undefined } : params)
  }

  /** Returns the form of a value that is compared: without secrets, and without members that differ between runs. */
  #normalize(value: unknown): unknown {
    return JSON.parse(JSON.stringify(withoutMembers(value ?? null, this.#ignored), this.#replacer))
  }
}

function isCall(step: Step, method: string): step is RecordedCall {
  return step.from === 'client' && 'method' in step && 'call' in step && step.method === method
}

function isNotification(step: Step, method: string): step is Extract<Step, { from: 'client'; method: string }> {
  return step.from === 'client' && 'method' in step && !('call' in step) && step.method === method
}
