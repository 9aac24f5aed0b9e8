/** An SDK that keeps spans and metrics in memory, and sets the global context manager and propagator. */

import { context, propagation, type Span } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

export const contextManager = new AsyncLocalStorageContextManager()
context.setGlobalContextManager(contextManager)
export const w3c = new CompositePropagator({
  propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
})
propagation.setGlobalPropagator(w3c)

/** Creates a separate SDK, which represents another process. */
export function createSdk() {
  const spanExporter = new InMemorySpanExporter()
  const tracers = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spanExporter })] })
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 3_600_000 })
  const meters = new MeterProvider({ readers: [reader] })

  return {
    tracer: tracers.getTracer('test'),
    meter: meters.getMeter('test'),
    meters,
    get spans(): ReadableSpan[] {
      return spanExporter.getFinishedSpans()
    },
    /** The finished spans of one name. */
    named: (name: string) => spanExporter.getFinishedSpans().filter((span) => span.name === name),
    reset: () => spanExporter.reset(),
    /** The data points of a metric, and its descriptor. */
    async metric(name: string) {
      metricExporter.reset()
      await meters.forceFlush()
      const all = metricExporter
        .getMetrics()
        .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
      return all.find(({ descriptor }) => descriptor.name === name)
    },
  }
}

export const parentOf = (span: ReadableSpan | undefined) => span?.parentSpanContext?.spanId
export const idOf = (span: ReadableSpan | Span | undefined) => span?.spanContext().spanId
export const traceOf = (span: ReadableSpan | undefined) => span?.spanContext().traceId
