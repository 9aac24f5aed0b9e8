/** What a verdict of ours is, and how verdicts are made from shapes, methods and whole messages. */
import {
  CODEC_LIMITS,
  check,
  clientRequestParams,
  decode,
  eraOf,
  type Message,
  Refusal,
  type Revision,
  readEnvelope,
  type Schema,
  serverRequestParams,
} from '@mcpx/protocol'

/** Whether we take a value for what an official definition of a revision describes. */
export type Verdict = (value: unknown, revision: Revision) => boolean

export function fits(schema: Schema<unknown> | undefined, value: unknown): boolean {
  return schema !== undefined && check(schema, value).problem === undefined
}

/** The verdict of one shape. */
export function shape(schema: Schema<unknown>): Verdict {
  return (value) => fits(schema, value)
}

/** The parameters of a request as a receiver reads them: the envelope, where the era has one, then the shape. */
export function params(method: string): Verdict {
  return (value, revision) =>
    hasEnvelope(value, revision) &&
    fits(clientRequestParams(revision, method) ?? serverRequestParams(revision, method), value)
}

/** Whether parameters say of their request what the era wants said. */
export function hasEnvelope(value: unknown, revision: Revision): boolean {
  return eraOf(revision) === 'legacy' || typeof readEnvelope(value) !== 'string'
}

/** The messages that a value is when it comes as JSON; nothing if any of it is refused. */
export function received(value: unknown): Message[] | undefined {
  const decoded = decode(JSON.stringify(value), { ...CODEC_LIMITS, maxBatch: 1000 })
  const messages = Array.isArray(decoded) ? decoded : [decoded]
  return messages.some((message) => message instanceof Refusal) ? undefined : (messages as Message[])
}

/** The one message that a value is; members that a definition leaves to the message's frame are put there. */
export function receivedOne(value: unknown, frame?: object): Message | undefined {
  if (Array.isArray(value)) return undefined
  return received(typeof value === 'object' && value !== null ? { ...frame, ...value } : value)?.[0]
}
