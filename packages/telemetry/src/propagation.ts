/**
 * Trace context in the `_meta` of messages, under the keys `traceparent`, `tracestate` and `baggage`.
 *
 * @see https://modelcontextprotocol.io/seps/414-request-meta
 */

import { isObject, type JsonObject } from '@mcpx/protocol'
import {
  type Context,
  isSpanContextValid,
  type Link,
  propagation,
  type SpanContext,
  type TextMapGetter,
  type TextMapPropagator,
  type TextMapSetter,
  trace,
} from '@opentelemetry/api'

/** How to use a received trace context: as the parent of the span, as a link of the span, or not at all. */
export type Trust = 'parent' | 'link' | 'ignore'

/** The longest accepted values, in characters. */
const MAX_LENGTHS: Readonly<Record<string, number>> = { traceparent: 55, baggage: 8_192 }
const MAX_LENGTH = 512

function accept(key: string, value: unknown): string | undefined {
  const most = Object.hasOwn(MAX_LENGTHS, key) ? (MAX_LENGTHS[key] as number) : MAX_LENGTH
  return typeof value === 'string' && value.length <= most ? value : undefined
}

const getter: TextMapGetter<JsonObject> = {
  get: (meta, key) => (Object.hasOwn(meta, key) ? accept(key, meta[key]) : undefined),
  keys: (meta) => Object.keys(meta),
}

const setter: TextMapSetter<JsonObject> = {
  set(meta, key, value) {
    if (value !== '' && accept(key, value) !== undefined) meta[key] = value
  },
}

/** The context of a received message, and links to other spans. */
export interface ReceivedContext {
  readonly context: Context
  readonly links: Link[]
}

export class Propagation {
  /** The propagator. Undefined if propagation is disabled. */
  readonly #propagator: Pick<TextMapPropagator, 'inject' | 'extract' | 'fields'> | undefined
  readonly #trust: Trust

  /** @param propagator `false` disables propagation. Default: the global propagator. */
  constructor(propagator: TextMapPropagator | false = propagation as unknown as TextMapPropagator, trust: Trust) {
    this.#propagator = propagator || undefined
    this.#trust = trust
  }

  /** Whether there is a propagator. Without an SDK, the global propagator has no fields. */
  get isActive(): boolean {
    return this.#propagator !== undefined && this.#propagator.fields().length > 0
  }

  /**
   * Returns the members to set in `_meta` of a sent message. An undefined member removes a member that belongs to
   * another context.
   */
  inject(context: Context, params: JsonObject | undefined): JsonObject | undefined {
    const propagator = this.#propagator
    if (propagator === undefined) return undefined
    const meta: JsonObject = {}
    propagator.inject(context, meta, setter)
    if (Object.keys(meta).length === 0) return undefined
    const given = params?._meta
    if (!isObject(given)) return meta
    for (const key of propagator.fields()) {
      // JSON has no undefined members.
      if (Object.hasOwn(given, key) && !Object.hasOwn(meta, key)) meta[key] = undefined
    }
    return meta
  }

  /** Returns the span of the sender of a message. Returns undefined if received context is ignored. */
  findRemote(base: Context, params: JsonObject | undefined): SpanContext | undefined {
    const { context, links } = this.extract(base, params)
    return trace.getSpanContext(context) ?? links[0]?.context
  }

  /**
   * Returns the context for handling a received message. With the trust `parent`, the span of the sender is the parent,
   * and the active span, for example of the HTTP request, becomes a link.
   */
  extract(ambient: Context, params: JsonObject | undefined): ReceivedContext {
    const meta = params?._meta
    if (this.#propagator === undefined || this.#trust === 'ignore' || !isObject(meta)) {
      return { context: ambient, links: [] }
    }
    const local = trace.getSpanContext(ambient)
    const received = this.#propagator.extract(local === undefined ? ambient : trace.deleteSpan(ambient), meta, getter)
    const remote = trace.getSpanContext(received)
    const hasRemote = remote !== undefined && isSpanContextValid(remote)
    if (this.#trust === 'link') return { context: ambient, links: hasRemote ? [{ context: remote }] : [] }
    if (!hasRemote) {
      const span = trace.getSpan(ambient)
      return { context: span === undefined ? received : trace.setSpan(received, span), links: [] }
    }
    // Within one process, the span of the sender is also the active span.
    const isSame = local === undefined || !isSpanContextValid(local) || local.spanId === remote.spanId
    return { context: received, links: isSame ? [] : [{ context: local }] }
  }
}
