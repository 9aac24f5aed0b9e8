/** Calls with telemetry: without an SDK of OpenTelemetry, and with an SDK that exports nothing. */
import { connect } from '@mcpx/client'
import { createServer, type ServerOptions } from '@mcpx/server'
import { mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import * as z from 'zod'
import type { SpeedCase, Subject, Work } from '../case.ts'
import { messageText, requestHeaders } from '../driver/requests.ts'

type Mode = 'without' | 'no-sdk' | 'sdk'

/** Sets up an SDK as for production, with spans and metrics that nothing exports. */
async function startSdk(): Promise<void> {
  const { context, metrics, propagation, trace } = await import('@opentelemetry/api')
  const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks')
  const { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } = await import('@opentelemetry/core')
  const { MeterProvider } = await import('@opentelemetry/sdk-metrics')
  const { TracerProvider } = await import('@opentelemetry/sdk-trace')
  const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()]
  context.setGlobalContextManager(new AsyncLocalStorageContextManager())
  propagation.setGlobalPropagator(new CompositePropagator({ propagators }))
  trace.setGlobalTracerProvider(new TracerProvider())
  metrics.setGlobalMeterProvider(new MeterProvider())
}

async function optionsOf(mode: Mode): Promise<Pick<ServerOptions, 'telemetry'>> {
  if (mode === 'without') return {}
  if (mode === 'sdk') await startSdk()
  const { telemetry } = await import('@mcpx/telemetry')
  return { telemetry: telemetry() }
}

function createAdder(options: ServerOptions) {
  const input = z.object({ a: z.number(), b: z.number() })
  return createServer({ name: 'bench', version: '1.0.0' }, options).tool('add', { input }, ({ a, b }) => String(a + b))
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

async function wholeCall(mode: Mode): Promise<Work> {
  const options = await optionsOf(mode)
  const { url } = await serveHttp(createAdder(options), { port: 0 })
  const client = await connect(http(url), { cache: false, ...options })
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
      says: 'with an SDK: spans and metrics, and no exporter',
      against: name,
      prepare: () => prepare('sdk'),
    },
  ]
}

export const telemetry: SpeedCase = {
  kind: 'speed',
  name: 'telemetry',
  says: 'A `tools/call` in the modern era: from a client over HTTP and back, with telemetry on both sides, and at the server alone.',
  subjects: [
    ...subjects('call', wholeCall, 'client, HTTP and server in one process'),
    ...subjects('server', serverCall, 'a `Request` to `mcp()` and the text of its `Response`'),
  ],
}
