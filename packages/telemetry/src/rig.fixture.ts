/** A server and a client with telemetry of their own, connected over each transport. */

import { PassThrough } from 'node:stream'
import { type Client, type ClientOptions, connect } from '@mcpx/client'
import { RpcError } from '@mcpx/protocol'
import { createServer, type Server, ToolError } from '@mcpx/server'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { overStreams, serveStdio } from '@mcpx/transport-stdio'
import { type Attributes, SpanKind, type Tracer } from '@opentelemetry/api'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { type TelemetryOptions, telemetry } from './index.ts'
import { createSdk } from './otel.fixture.ts'

export const TRANSPORTS = ['memory', 'http', 'stdio'] as const
/** `sse`: the HTTP+SSE transport of 2024-11-05. */
export type Transport = (typeof TRANSPORTS)[number] | 'sse'

/** The newest revision of each era. */
export const REVISIONS = ['2025-11-25', '2026-07-28'] as const
const OLDER = ['2024-11-05', '2025-03-26', '2025-06-18'] as const
export type Revision = (typeof REVISIONS | typeof OLDER)[number]

/** Each transport with each revision that it supports. */
export const COMBINATIONS: readonly { readonly transport: Transport; readonly revision: Revision }[] = [
  ...TRANSPORTS.flatMap((transport) => [...REVISIONS, ...OLDER].map((revision) => ({ transport, revision }))),
  { transport: 'sse', revision: '2024-11-05' },
]

/** The attributes of the connection of a transport that spans and metrics of both sides have. */
export const NETWORK: Readonly<Record<Transport, Attributes>> = {
  memory: {},
  stdio: { 'network.transport': 'pipe' },
  http: { 'network.transport': 'tcp', 'network.protocol.name': 'http' },
  sse: { 'network.transport': 'tcp', 'network.protocol.name': 'http' },
}

/** Simulates an instrumented database driver. */
async function query(tracer: Tracer): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1))
  tracer.startSpan('SELECT', { kind: SpanKind.CLIENT }).end()
}

/** A server with one item of each kind. */
export function createShop(tracer: Tracer, options: Parameters<typeof createServer>[1] = {}): Server {
  const server = createServer({ name: 'shop', version: '1.0.0' }, { onError: () => {}, ...options })
    .tool('search', { input: z.object({ q: z.string() }) }, async ({ q }) => {
      await query(tracer)
      return `found ${q}`
    })
    .tool('book', {}, async (_, ctx) => {
      const { action } = await ctx.elicit('seat', { message: 'Which?', schema: z.object({ row: z.number() }) })
      return action
    })
    .tool('rate', {}, async (_, ctx) => {
      const question = { role: 'user', content: { type: 'text', text: 'Is it good?' } } as const
      const { content } = await ctx.sample('rating', { messages: [question], maxTokens: 5 })
      return JSON.stringify(content)
    })
    .tool('refuse', { input: z.object({ code: z.number() }) }, ({ code }) => {
      throw new RpcError(code, 'Refused')
    })
    .tool('fail', {}, () => {
      throw new ToolError('No such book')
    })
    .tool('break', {}, () => {
      throw new Error('the password is 1234')
    })
    .tool('count', {}, async (_, ctx) => {
      await ctx.progress(1, 2)
      return 'counted'
    })
    .tool('wait', {}, (_, { signal }) => {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    .resource('note://{id}', {}, ({ id }) => `note ${id}`)
    .resource('shop://sign', { subscribe: true }, 'open')
    .prompt('review', { args: z.object({ code: z.string() }) }, ({ code }) => `Review ${code}`)
  return server as unknown as Server
}

export interface RigOptions {
  readonly revision?: Revision
  readonly transport?: Transport
  readonly server?: TelemetryOptions
  readonly client?: TelemetryOptions
  readonly clientOptions?: ClientOptions
}

/** Connects a client to the shop; both close at the end of the test. */
export async function createRig({ revision = '2026-07-28', transport = 'memory', ...options }: RigOptions = {}) {
  const there = createSdk()
  const here = createSdk()
  const shop = createShop(there.tracer, {
    telemetry: telemetry({ tracer: there.tracer, meter: there.meter, ...options.server }),
  })
  const { target, port, close } = await open(shop, transport)
  const client: Client = await connect(target, {
    era: revision,
    cache: false,
    onElicit: () => ({ action: 'accept', content: { row: 3 } }),
    onSample: () => ({ role: 'assistant', model: 'test', content: { type: 'text', text: 'Yes' } }),
    telemetry: telemetry({ tracer: here.tracer, meter: here.meter, ...options.client }),
    ...options.clientOptions,
  })
  const stop = async () => {
    await client.close()
    await close()
  }
  onTestFinished(stop)
  return { client, here, there, shop, port, stop }
}

async function open(shop: Server, transport: Transport) {
  if (transport === 'memory') return { target: shop, port: undefined, async close() {} }
  if (transport === 'http' || transport === 'sse') {
    const { url, port, close } = await serveHttp(shop, { port: 0, sse: '/sse' })
    return { target: http(transport === 'http' ? url : url.replace(/\/mcp$/, '/sse')), port, close }
  }
  const [input, output] = [new PassThrough(), new PassThrough()]
  const serving = serveStdio(shop, { input, output, drainTimeout: 0 })
  return {
    target: overStreams(() => ({ input: output, output: input })),
    port: undefined,
    close: () => serving.close(),
  }
}
