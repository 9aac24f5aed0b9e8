/** `telemetry`: traces and measures the messages of servers and clients with OpenTelemetry. */

import { checkNumbers, kindOf, quoted, type RedactOptions, refuseUnknownOption, type Telemetry } from '@mcpx/protocol'
import type { Meter, TextMapPropagator, Tracer } from '@opentelemetry/api'
import { OpenTelemetry } from './observer.ts'
import type { Trust } from './propagation.ts'

/** Options of `telemetry`. */
export interface TelemetryOptions {
  /** Creates the spans. `false`: no spans. Default: a tracer of the global provider, which may be set later. */
  readonly tracer?: Tracer | false | undefined
  /** Creates the metrics. `false`: no metrics. Default: a meter of the global provider, which may be set later. */
  readonly meter?: Meter | false | undefined
  /** Writes and reads the trace context in `_meta`. `false`: none. Default: the global propagator. */
  readonly propagator?: TextMapPropagator | false | undefined
  /**
   * How the trace context of received messages is used. `parent`: as the parent of spans. `link`: as a link, without
   * baggage; for servers with unknown clients. `ignore`: not at all. Default: `parent`.
   */
  readonly trust?: Trust | undefined
  /**
   * Whether spans contain the arguments of tools and prompts, and the results of tools. These may be private. `redact`
   * of `@mcpx/protocol` removes secrets and shortens values; an object is used as its options. Default: false.
   */
  readonly content?: boolean | RedactOptions | undefined
  /**
   * Whether span names and metrics contain the URIs of resources. Attributes of spans always contain them.
   * Default: false.
   */
  readonly resourceUri?: boolean | undefined
  /**
   * Methods without spans, such as `notifications/progress`. Metrics still count them, and their context is propagated.
   * Default: none.
   */
  readonly ignore?: readonly string[] | undefined
  /**
   * Whether to create the gauges `mcpx.server.*` (requests, sessions, streams, and tasks by status), and the counter
   * `mcpx.server.refusals` (refused HTTP requests by status). Default: false.
   */
  readonly gauges?: boolean | undefined
}

// The compiler compares these names with the interface.
const OPTION_NAMES: Readonly<Record<keyof TelemetryOptions, true>> = {
  tracer: true,
  meter: true,
  propagator: true,
  trust: true,
  content: true,
  resourceUri: true,
  ignore: true,
  gauges: true,
}

/**
 * Creates the option `telemetry` of `createServer` and `connect`. Without an OpenTelemetry SDK in the process it has
 * almost no cost. One object may serve any number of servers and clients.
 *
 * ```ts
 * const server = createServer(info, { telemetry: telemetry() })
 * const client = await connect(http(url), { telemetry: telemetry() })
 * ```
 *
 * @throws TypeError for an invalid or unknown option
 */
export function telemetry(options: TelemetryOptions = {}): Telemetry {
  checkOptions(options)
  return new OpenTelemetry(options)
}

function checkOptions(options: TelemetryOptions): void {
  refuseUnknownOption('telemetry', options, Object.keys(OPTION_NAMES), {
    propagators: 'propagator',
    captureContent: 'content',
  })
  const { tracer, meter, propagator, trust = 'parent', ignore = [], content = false } = options
  checkMember('tracer', tracer, 'startSpan', 'trace.getTracer(name)')
  checkMember('meter', meter, 'createHistogram', 'metrics.getMeter(name)')
  checkMember('propagator', propagator, 'inject', 'new W3CTraceContextPropagator()')
  if (!['parent', 'link', 'ignore'].includes(trust)) {
    throw new TypeError(`telemetry: trust: expected "parent", "link" or "ignore", got ${quoted(String(trust))}`)
  }
  if (typeof content !== 'boolean') {
    refuseUnknownOption('telemetry: content', content, ['isSecret', 'maxLength'])
    checkNumbers('telemetry: content.', { maxLength: content.maxLength })
  }
  if (Array.isArray(ignore) && ignore.every((method) => typeof method === 'string')) return
  throw new TypeError(`telemetry: ignore: expected an array of methods such as ["ping"], got ${kindOf(ignore)}`)
}

function checkMember(option: string, given: unknown, member: string, example: string): void {
  if (given === undefined || given === false) return
  if (typeof (given as Record<string, unknown> | null)?.[member] === 'function') return
  throw new TypeError(`telemetry: ${option}: expected an object such as ${example}, or false, got ${kindOf(given)}`)
}
