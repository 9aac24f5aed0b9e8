/** A server and a client with telemetry of their own, connected over each transport. */

import { PassThrough } from 'node:stream'
import { type Client, type ClientOptions, connect } from '@mcpx/client'
import { createServer, type Server, ToolError } from '@mcpx/server'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { overStreams, serveStdio } from '@mcpx/transport-stdio'
import { SpanKind, type Tracer } from '@opentelemetry/api'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { type TelemetryOptions, telemetry } from './index.ts'
import { createSdk } from './otel.fixture.ts'

export const TRANSPORTS = ['memory', 'http', 'stdio'] as const
export type Transport = (typeof TRANSPORTS)[number]

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const
export type Revision = (typeof REVISIONS)[number]

/** Does what an instrumented database driver does. */
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
  if (transport === 'http') {
    const { url, port, close } = await serveHttp(shop, { port: 0 })
    return { target: http(url), port, close }
  }
  const [input, output] = [new PassThrough(), new PassThrough()]
  const serving = serveStdio(shop, { input, output, drainTimeout: 0 })
  return {
    target: overStreams(() => ({ input: output, output: input })),
    port: undefined,
    close: () => serving.close(),
  }
}
