/** The histograms of the semantic conventions, and gauges for the load of a server. */

import type { ServerLoad } from '@mcpx/protocol'
import {
  type Attributes,
  type Counter,
  createNoopMeter,
  type Histogram,
  type Meter,
  type MeterProvider,
  metrics,
} from '@opentelemetry/api'
import type { Role } from './attributes.ts'

/** The instrumentation scope of spans and metrics. */
export const SCOPE = '@mcpx/telemetry'

/** The recommended bucket boundaries of all durations, in s. */
const BOUNDARIES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** The meter of processes without an SDK. */
const NOOP_METER = createNoopMeter()

type HistogramName = `${Role}.${'operation' | 'session'}`

const HISTOGRAMS: Readonly<Record<HistogramName, string>> = {
  'client.operation': 'The duration of the MCP request or notification as observed on the sender',
  'server.operation': 'The duration of the MCP request or notification as observed on the receiver',
  'client.session': 'The duration of the MCP session as observed on the client',
  'server.session': 'The duration of the MCP session as observed on the server',
}

const GAUGES = {
  requests: 'The requests that are being handled',
  sessions: 'The legacy sessions with a running request or an open stream',
  streams: 'The open SSE streams',
} as const satisfies Partial<Record<keyof ServerLoad, string>>

const TASK_STATUSES = ['working', 'input_required']

export class Metrics {
  readonly #given: Meter | false | undefined
  readonly #hasGauges: boolean
  readonly #loads = new Set<() => ServerLoad>()
  #source: Meter | MeterProvider | false | undefined
  #refusals: Counter | undefined
  #histograms: Readonly<Record<HistogramName, Histogram>> | undefined

  /** @param meter `false`: no metrics. Default: a meter of the global provider */
  constructor(meter: Meter | false | undefined, hasGauges: boolean) {
    this.#given = meter
    this.#hasGauges = hasGauges
    this.#prepare()
  }

  /** Whether durations are recorded. */
  get isRecording(): boolean {
    return this.#prepare() !== undefined
  }

  /** Records a duration in ms. */
  record(name: HistogramName, duration: number, attributes: Attributes): void {
    this.#prepare()?.[name].record(duration / 1_000, attributes)
  }

  /** Counts a refused request, if there are gauges. */
  countRefusal(attributes: Attributes): void {
    this.#prepare()
    this.#refusals?.add(1, attributes)
  }

  /** Adds an endpoint to the gauges, until the returned function is called. */
  addLoad(readLoad: () => ServerLoad): () => void {
    this.#loads.add(readLoad)
    this.#prepare()
    return () => this.#loads.delete(readLoad)
  }

  /**
   * Returns the histograms. Checks at each use whether the global provider has changed, because an SDK may be set up at
   * any time.
   */
  #prepare(): Readonly<Record<HistogramName, Histogram>> | undefined {
    const source = this.#given ?? metrics.getMeterProvider()
    if (source === this.#source) return this.#histograms
    this.#source = source
    if (source === false) return undefined
    const meter = 'getMeter' in source ? source.getMeter(SCOPE) : source
    this.#histograms = meter === NOOP_METER ? undefined : createHistograms(meter)
    if (this.#hasGauges) this.#createGauges(meter)
    return this.#histograms
  }

  #createGauges(meter: Meter): void {
    const sum = (read: (load: ServerLoad) => number | undefined) => {
      let total = 0
      for (const readLoad of this.#loads) total += read(readLoad()) ?? 0
      return total
    }
    for (const [name, description] of Object.entries(GAUGES) as [keyof typeof GAUGES, string][]) {
      const gauge = meter.createObservableGauge(`mcpx.server.${name}`, { description })
      gauge.addCallback((result) => result.observe(sum((load) => load[name])))
    }
    this.#refusals = meter.createCounter('mcpx.server.refusals', {
      description: 'The HTTP requests that were refused before a message was handled',
    })
    const description = 'The tasks that this process works on'
    meter.createObservableGauge('mcpx.server.tasks', { description }).addCallback((result) => {
      for (const status of TASK_STATUSES)
        result.observe(
          sum(({ tasks }) => tasks?.[status]),
          { 'mcpx.task.status': status },
        )
    })
  }
}

function createHistograms(meter: Meter): Readonly<Record<HistogramName, Histogram>> {
  const entries = Object.entries(HISTOGRAMS).map(([name, description]) => {
    const options = { description, unit: 's', advice: { explicitBucketBoundaries: BOUNDARIES } }
    return [name, meter.createHistogram(`mcp.${name}.duration`, options)]
  })
  return Object.fromEntries(entries)
}
