/** Calls with telemetry: without an SDK of OpenTelemetry, and with an SDK that exports spans to memory. */
import { PassThrough } from 'node:stream'
import { connect } from '@mcpx/client'
import type { Connector } from '@mcpx/protocol'
import { createServer, type Server, type ServerOptions } from '@mcpx/server'
import { mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { overStreams, serveStdio } from '@mcpx/transport-stdio'
import * as z from 'zod'
import type { SpeedCase, Subject, Work } from '../case.ts'
import { messageText, requestHeaders } from '../driver/requests.ts'

type Mode = 'without' | 'no-sdk' | 'sdk'

/** The exporter is emptied after this number of spans. */
const MOST_SPANS = 10_000

/** Sets up an SDK that exports spans to memory and aggregates metrics. */
async function startSdk(): Promise<void> {
  const { context, metrics, propagation, trace } = await import('@opentelemetry/api')
  const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks')
  const { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } = await import('@opentelemetry/core')
  const { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } = await import(
    '@opentelemetry/sdk-metrics'
  )
  const { BatchSpanProcessor, InMemorySpanExporter, TracerProvider } = await import('@opentelemetry/sdk-trace')
  const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()]
  context.setGlobalContextManager(new AsyncLocalStorageContextManager())
  propagation.setGlobalPropagator(new CompositePropagator({ propagators }))
  const exporter = new InMemorySpanExporter()
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] }))
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 60_000 })
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
  setInterval(() => exporter.getFinishedSpans().length > MOST_SPANS && exporter.reset(), 100).unref()
}

async function optionsOf(mode: Mode): Promise<Pick<ServerOptions, 'telemetry'>> {
  if (mode === 'without') return {}
  if (mode === 'sdk') await startSdk()
  const { telemetry } = await import('@mcpx/telemetry')
  return { telemetry: telemetry() }
}

function createAdder(options: ServerOptions) {
  const input = z.object({ a: z.number(), b: z.number() })
  return createServer({ name: 'bench', version: '1.0.0' }, options).tool('add', { input }, ({ a, b }) =>
    String(a + b),
  ) as unknown as Server
}

const params = { name: 'add', arguments: { a: 2, b: 3 } }

async function serverCall(mode: Mode): Promise<Work> {
  const app = mcp(createAdder(await optionsOf(mode)))
  const headers = requestHeaders({ era: 'modern', port: 80 }, 'tools/call', 'add')
  const _meta = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
  let id = 0
  const call = async () => {
    id += 1
    const body = messageText('modern', 'tools/call', { ...params, _meta }, id)
    return (await app.fetch(new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body }))).text()
  }
  return { call, isRight: (text) => String(text).includes('"text":"5"') }
}

type Serve = (server: Server) => Connector | Server | Promise<Connector | Server>

const overHttp: Serve = async (server) => http((await serveHttp(server, { port: 0 })).url)

const inMemory: Serve = (server) => server

const overPipes: Serve = (server) => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  void serveStdio(server, { input, output })
  return overStreams(() => ({ input: output, output: input }))
}

async function wholeCall(mode: Mode, serve: Serve): Promise<Work> {
  const options = await optionsOf(mode)
  const client = await connect(await serve(createAdder(options)), { cache: false, ...options })
  const call = () => client.callTool('add', params.arguments)
  return { call, isRight: (result) => JSON.stringify(result).includes('"text":"5"') }
}

function subjects(name: string, prepare: (mode: Mode) => Promise<Work>, says: string): Subject[] {
  return [
    { name, says: `${says}, without telemetry`, prepare: () => prepare('without') },
    {
      name: `${name}-no-sdk`,
      says: 'with `telemetry()`, without an SDK in the process',
      against: name,
      atMost: 1.1,
      prepare: () => prepare('no-sdk'),
    },
    {
      name: `${name}-sdk`,
      says: 'with an SDK: spans to an exporter in memory, and metrics',
      against: name,
      prepare: () => prepare('sdk'),
    },
  ]
}

export const telemetry: SpeedCase = {
  kind: 'speed',
  name: 'telemetry',
  says: 'A `tools/call` in the modern era: from a client over each transport and back, with telemetry on both sides, and at the server alone.',
  subjects: [
    ...subjects('memory', (mode) => wholeCall(mode, inMemory), 'client and server in one process'),
    ...subjects('stdio', (mode) => wholeCall(mode, overPipes), 'client and server over pipes in one process'),
    ...subjects('http', (mode) => wholeCall(mode, overHttp), 'client and server over HTTP in one process'),
    ...subjects('server', serverCall, 'a `Request` to `mcp()` and the text of its `Response`'),
  ],
}
