/** The type of verdicts, and functions that create them from shapes, methods and messages. */
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

/** Whether we accept a value for an official definition in a revision. */
export type Verdict = (value: unknown, revision: Revision) => boolean

export function fits(schema: Schema<unknown> | undefined, value: unknown): boolean {
  return schema !== undefined && check(schema, value).problem === undefined
}

/** The verdict of a shape. */
export function shape(schema: Schema<unknown>): Verdict {
  return (value) => fits(schema, value)
}

/** The verdict for parameters of a method: the envelope in the modern era, then the shape. */
export function params(method: string): Verdict {
  return (value, revision) =>
    hasEnvelope(value, revision) &&
    fits(clientRequestParams(revision, method) ?? serverRequestParams(revision, method), value)
}

/** Whether parameters contain a valid envelope; always true in the legacy era. */
export function hasEnvelope(value: unknown, revision: Revision): boolean {
  return eraOf(revision) === 'legacy' || typeof readEnvelope(value) !== 'string'
}

/** Decodes a value as one or more messages; undefined if any of them is invalid. */
export function decodeMessages(value: unknown): Message[] | undefined {
  const decoded = decode(JSON.stringify(value), { ...CODEC_LIMITS, maxBatch: 1000 })
  const messages = Array.isArray(decoded) ? decoded : [decoded]
  return messages.some((message) => message instanceof Refusal) ? undefined : (messages as Message[])
}

/** Decodes a value as one message, after adding the given JSON-RPC members. */
export function decodeMessage(value: unknown, members?: object): Message | undefined {
  if (Array.isArray(value)) return undefined
  return decodeMessages(typeof value === 'object' && value !== null ? { ...members, ...value } : value)?.[0]
}
