/** Measures calls with and without telemetry in turns, in one process, and prints a line of JSON. `telemetry-calls.ts <rounds> <ms>` */
import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { connect } from '@mcpx/client'
import type { Connector } from '@mcpx/protocol'
import { createServer, type Server, type ServerOptions } from '@mcpx/server'
import { telemetry } from '@mcpx/telemetry'
import { mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { overStreams, serveStdio } from '@mcpx/transport-stdio'
import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import * as z from 'zod'
import { messageText, requestHeaders } from './driver/requests.ts'
import { median } from './statistics.ts'

export const PLACES = ['memory', 'stdio', 'http', 'server'] as const
export type Place = (typeof PLACES)[number]
export const MODES = ['without', 'no-sdk', 'sdk'] as const
export type Mode = (typeof MODES)[number]

/** The processor time of a call in µs, by round. */
export type Measured = Readonly<Record<Place, Readonly<Record<Mode, readonly number[]>>>>

type Options = Pick<ServerOptions, 'telemetry'>
type Call = () => Promise<unknown>

const exporter = new InMemorySpanExporter()

/** Creates an SDK that exports spans to memory. It is passed and not global, so other calls of the process do not use it. */
function createOptions(mode: Mode): Options {
  if (mode === 'without') return {}
  if (mode === 'no-sdk') return { telemetry: telemetry() }
  context.setGlobalContextManager(new AsyncLocalStorageContextManager())
  const propagator = new CompositePropagator({
    propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
  })
  const tracers = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 3_600_000 })
  const meters = new MeterProvider({ readers: [reader] })
  return { telemetry: telemetry({ tracer: tracers.getTracer('bench'), meter: meters.getMeter('bench'), propagator }) }
}

const params = { name: 'add', arguments: { a: 2, b: 3 } }

function createAdder(options: Options): Server {
  const input = z.object({ a: z.number(), b: z.number() })
  const server = createServer({ name: 'bench', version: '1.0.0' }, options)
  return server.tool('add', { input }, ({ a, b }) => String(a + b)) as unknown as Server
}

async function serve(place: Place, server: Server): Promise<Connector | Server> {
  if (place === 'http') return http((await serveHttp(server, { port: 0 })).url)
  if (place === 'memory') return server
  const [input, output] = [new PassThrough(), new PassThrough()]
  void serveStdio(server, { input, output })
  return overStreams(() => ({ input: output, output: input }))
}

async function createCall(place: Place, options: Options): Promise<Call> {
  const server = createAdder(options)
  if (place !== 'server') {
    const client = await connect(await serve(place, server), { cache: false, ...options })
    return () => client.callTool('add', params.arguments)
  }
  const app = mcp(server)
  const headers = requestHeaders({ era: 'modern', port: 80 }, 'tools/call', 'add')
  const _meta = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
  let id = 0
  return async () => {
    id += 1
    const body = messageText('modern', 'tools/call', { ...params, _meta }, id)
    const response = await app.fetch(new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body }))
    return JSON.parse(await response.text()).result
  }
}

async function expectRight(call: Call): Promise<void> {
  const text = JSON.stringify(await call())
  if (!text.includes('"text":"5"')) throw new Error(`Wrong result: ${text.slice(0, 200)}`)
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Returns the processor time of a call in µs. */
async function measure(call: Call, times: number): Promise<number> {
  // Garbage of the calls before must not count.
  exporter.reset()
  collectGarbage()
  await turn()
  const before = process.cpuUsage()
  for (let n = 0; n < times; n++) await call()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

/** Rounds before the measured ones, in which the code is compiled. */
const WARM_UP = 8

async function measurePlace(place: Place, rounds: number, ms: number): Promise<Measured[Place]> {
  const calls = new Map<Mode, Call>()
  for (const mode of MODES) calls.set(mode, await createCall(place, createOptions(mode)))
  for (const call of calls.values()) await expectRight(call)
  const found: Record<Mode, number[]> = { without: [], 'no-sdk': [], sdk: [] }
  let times = 100
  for (let round = -WARM_UP; round < rounds; round++) {
    // The order rotates and alternates its direction, so that each mode follows each other one.
    const start = Math.abs(round) % MODES.length
    const order = [...MODES.slice(start), ...MODES.slice(0, start)]
    for (const mode of round % 2 === 0 ? order : order.reverse()) {
      found[mode].push(await measure(calls.get(mode) as Call, times))
    }
    if (round < 0) {
      times = Math.ceil((ms * 1_000) / median(found.without.slice(-3)))
      if (round === -1) for (const mode of MODES) found[mode] = []
    }
  }
  for (const call of calls.values()) await expectRight(call)
  return found
}

const [rounds, ms] = process.argv.slice(2).map(Number)
const measured: Record<string, Measured[Place]> = {}
for (const place of PLACES) measured[place] = await measurePlace(place, rounds as number, ms as number)
console.log(JSON.stringify(measured))
process.exit(0)
