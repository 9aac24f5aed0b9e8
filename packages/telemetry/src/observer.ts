/** Observes messages with spans and metrics. */

import type {
  EndedSession,
  JsonObject,
  Observation,
  ObservedMessage,
  ObservedWork,
  Outcome,
  RedactOptions,
  RefusedRequest,
  RequestId,
  ServerLoad,
  Telemetry,
} from '@mcpx/protocol'
import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  type Link,
  ProxyTracerProvider,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import {
  argumentAttributes,
  describeEnding,
  type Ending,
  type Item,
  itemOf,
  MeasuredValues,
  measuredAttributes,
  type Role,
  refusalAttributes,
  resultAttributes,
  revisionAttributes,
  sessionAttributes,
  spanAttributes,
  spanName,
} from './attributes.ts'
import { Metrics, SCOPE } from './metrics.ts'
import { Propagation } from './propagation.ts'
import type { TelemetryOptions } from './telemetry.ts'

/** The state that all requests of a call share. */
interface CallState {
  /** The context of the first request of a client's call, which is the parent of its later requests. */
  first?: Context
  /**
   * The span name of the request that is being passed to a mounted handler or a proxy. A mounted proxy passes the request
   * on twice. The second time, the name is the same, and no second span is created.
   */
  readonly delegated?: string
}

const CALL_STATE = createContextKey('@mcpx/telemetry call')

function stateOf(active: Context): CallState | undefined {
  return active.getValue(CALL_STATE) as CallState | undefined
}

/** Observes the messages of servers and clients. */
export class OpenTelemetry implements Telemetry {
  readonly #given: Tracer | false | undefined
  #tracer: Tracer | undefined
  #isActive = false
  readonly #metrics: Metrics
  readonly #measured = new MeasuredValues()
  readonly #propagation: Propagation
  readonly #ignored: ReadonlySet<string>
  readonly #withUri: boolean
  readonly #content: RedactOptions | undefined

  constructor({ tracer, meter, propagator, trust, content = false, resourceUri, ignore, gauges }: TelemetryOptions) {
    this.#given = tracer
    this.#metrics = new Metrics(meter, gauges === true)
    this.#propagation = new Propagation(propagator, trust ?? 'parent')
    this.#ignored = new Set(ignore)
    this.#withUri = resourceUri === true
    this.#content = content === true ? {} : content || undefined
  }

  /** Whether there is an SDK, or a tracer, meter or propagator in the options. An SDK may be set up at any time. */
  get isActive(): boolean {
    this.#isActive ||= this.#findTracer() !== undefined || this.#propagation.isActive || this.#metrics.isRecording
    return this.#isActive
  }

  onReceive(message: ObservedMessage): Observation {
    const active = context.active()
    // Ignore the active span for messages from a pipe. A pipe is read in the context in which it was opened, which is
    // unrelated to the message.
    const ambient = message.network?.transport === 'pipe' ? trace.deleteSpan(active) : active
    const { context: parent, links } = this.#propagation.extract(ambient, message.params)
    return this.#observe(message, 'server', parent, links)
  }

  onSend(message: ObservedMessage, during: Observation | undefined): Observation {
    const active = context.active()
    const state = stateOf(active)
    // Without a context manager, no span is active.
    const lacksActiveSpan = during instanceof SpanObservation && trace.getSpan(active) === undefined
    const parent = state?.first ?? (lacksActiveSpan ? during.context : active)
    const observation = this.#observe(message, 'client', parent, [])
    if (state !== undefined) state.first ??= observation.context
    observation.meta = this.#propagation.inject(observation.context, message.params)
    return observation
  }

  onWork({ kind, method, params, prefix, taskId }: ObservedWork): Observation | undefined {
    const active = context.active()
    const state = stateOf(active)
    if (kind === 'call') {
      // A call that polls a task sends further requests, which belong to this call.
      if (state !== undefined && state.delegated === undefined) return undefined
      return { run: (run) => context.with(active.setValue(CALL_STATE, {}), run) }
    }
    const item = itemOf(method, params)
    const name = spanName(method, item, this.#withUri)
    if (kind === 'input') return this.#observeWork(name, { 'mcp.method.name': method }, state?.first ?? active)
    const attributes: Attributes = item === undefined ? {} : { [item.attribute]: item.value }
    if (taskId !== undefined) attributes['mcpx.task.id'] = taskId
    if (kind === 'task') return this.#observeTask(`task ${name}`, attributes, active, params)
    if (state?.delegated === name) return undefined
    if (prefix !== undefined) attributes['mcpx.mount.prefix'] = prefix
    return this.#observeWork(`delegate ${name}`, attributes, active, { delegated: name })
  }

  onSessionEnd(session: EndedSession): void {
    const { side, duration, error } = session
    const attributes = { ...sessionAttributes(session), ...describeEnding({ error }, side).attributes }
    this.#metrics.record(`${side}.session`, duration, attributes)
  }

  onRefuse(refused: RefusedRequest): void {
    this.#metrics.countRefusal(refusalAttributes(refused))
  }

  onServe(readLoad: () => ServerLoad): () => void {
    return this.#metrics.addLoad(readLoad)
  }

  #findTracer(): Tracer | undefined {
    if (this.#given !== undefined) return this.#given || undefined
    const provider = trace.getTracerProvider()
    // Without an SDK, the provider has no delegate.
    return provider instanceof ProxyTracerProvider ? provider.getDelegateTracer(SCOPE) : provider.getTracer(SCOPE)
  }

  #observe(message: ObservedMessage, role: Role, parent: Context, links: Link[]): SpanObservation {
    const { method, params } = message
    const start = performance.now()
    const item = itemOf(method, params)
    // The instrumentation of a model API may already have created a span for this call.
    const outer = role === 'client' && method === 'tools/call' ? findToolSpan(parent) : undefined
    const span = this.#ignored.has(method) ? undefined : this.#startSpan(message, role, item, parent, links, outer)
    if (this.#content !== undefined && span?.isRecording()) {
      span.setAttributes(argumentAttributes(message, this.#content))
    }
    return new SpanObservation(span, parent, (outcome) => {
      const ending = describeEnding(outcome, role)
      const negotiated = method === 'initialize' ? revisionAttributes(outcome) : undefined
      if (span?.isRecording()) {
        if (negotiated !== undefined) span.setAttributes(negotiated)
        if (this.#content !== undefined) span.setAttributes(resultAttributes(method, outcome.result, this.#content))
      }
      if (span !== undefined) endSpan(span, ending, outer === undefined)
      if (!this.#metrics.isRecording) return
      const attributes = measuredAttributes(message, role, item, ending, this.#withUri, this.#measured)
      this.#metrics.record(`${role}.operation`, performance.now() - start, Object.assign(attributes, negotiated))
    })
  }

  #startSpan(
    message: ObservedMessage,
    role: Role,
    item: Item | undefined,
    parent: Context,
    links: Link[],
    outer: Span | undefined,
  ): Span | undefined {
    this.#tracer ??= this.#findTracer()
    if (this.#tracer === undefined) return undefined
    const attributes = spanAttributes(message, role, item)
    if (outer !== undefined) return outer.setAttributes(attributes)
    const kind = role === 'client' ? SpanKind.CLIENT : SpanKind.SERVER
    const options = links.length === 0 ? { kind, attributes } : { kind, attributes, links }
    return this.#tracer.startSpan(spanName(message.method, item, this.#withUri), options, parent)
  }

  /**
   * Observes a task. A task outlives its call, so it has a separate trace with a link to the span of the call. If another
   * process continues the task, the link is to the span of the client that made the call.
   */
  #observeTask(
    name: string,
    attributes: Attributes,
    active: Context,
    params: JsonObject | undefined,
  ): Observation | undefined {
    const root = trace.deleteSpan(active)
    const call = trace.getSpanContext(active) ?? this.#propagation.findRemote(root, params)
    return this.#observeWork(name, attributes, root, undefined, call && [{ context: call }])
  }

  #observeWork(
    name: string,
    attributes: Attributes,
    parent: Context,
    state?: CallState,
    links: Link[] = [],
  ): Observation | undefined {
    this.#tracer ??= this.#findTracer()
    const span = this.#tracer?.startSpan(name, { kind: SpanKind.INTERNAL, attributes, links }, parent)
    const end = (outcome: Outcome) => span && endSpan(span, describeEnding(outcome, 'server'), true)
    return span && new SpanObservation(span, parent, end, state)
  }
}

/** Observes one message or one piece of work, with or without a span. */
class SpanObservation implements Observation {
  readonly context: Context
  meta: JsonObject | undefined
  readonly #span: Span | undefined
  readonly #onEnd: (outcome: Outcome) => void

  constructor(span: Span | undefined, parent: Context, onEnd: (outcome: Outcome) => void, state?: CallState) {
    const own = span === undefined ? parent : trace.setSpan(parent, span)
    // The call state of the parent applies only to requests of the parent.
    this.context = state === stateOf(own) ? own : own.setValue(CALL_STATE, state)
    this.#span = span
    this.#onEnd = onEnd
  }

  run<Result>(run: () => Result): Result {
    return context.with(this.context, run)
  }

  onId(id: RequestId): void {
    this.#span?.setAttribute('jsonrpc.request.id', String(id))
  }

  end(outcome: Outcome): void {
    this.#onEnd(outcome)
  }
}

function endSpan(span: Span, { attributes, isError, message }: Ending, isOwn: boolean): void {
  if (attributes !== undefined) span.setAttributes(attributes)
  if (!isOwn) return
  if (isError) span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) })
  span.end()
}

/**
 * Returns the active span if an instrumentation created it for a tool call, and it does not describe a message yet.
 * Only spans of the SDK have attributes.
 */
function findToolSpan(active: Context): Span | undefined {
  const span = trace.getSpan(active)
  if (span === undefined || !span.isRecording()) return undefined
  const { attributes } = span as Span & { readonly attributes?: Attributes }
  const isToolSpan = attributes?.['gen_ai.operation.name'] === 'execute_tool'
  return isToolSpan && attributes['mcp.method.name'] === undefined ? span : undefined
}
