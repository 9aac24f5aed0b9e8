/** What the compiler knows of a client. */

import type { CallToolResult, Catalogued, Connector, JsonObject, Responder, Tool } from '@mcpx/protocol'
import { expectTypeOf } from 'vitest'
import { type Client, connect } from './index.ts'

interface Offers {
  tools: {
    add: { input: { a: number; b: number }; output: { sum: number } }
    now: { input: Record<string, never>; output: string }
    search: { input: { query?: string }; output: unknown }
  }
  prompts: Record<never, never>
}

declare const server: Responder & Catalogued<Offers>
declare const connector: Connector

export async function typedByTheServer(): Promise<void> {
  const client = await connect<typeof server>(connector)
  expectTypeOf(client).toEqualTypeOf<Client<typeof server>>()
  expectTypeOf(await client.tools.add({ a: 1, b: 2 })).toEqualTypeOf<{ sum: number }>()
  expectTypeOf(await client.tools.now()).toEqualTypeOf<string>()
  expectTypeOf(await client.tools.search({ query: 'x' }, { timeout: 5 })).toBeUnknown()
  // @ts-expect-error: no such tool
  await client.tools.subtract({ a: 1, b: 2 })
  // @ts-expect-error: the arguments are required
  await client.tools.add()
  // @ts-expect-error: b is missing
  await client.tools.add({ a: 1 })
  // @ts-expect-error: a is a number
  await client.tools.add({ a: '1', b: 2 })
}

export async function typedByTheTarget(): Promise<void> {
  const client = await connect(server)
  expectTypeOf(await client.tools.add({ a: 1, b: 2 })).toEqualTypeOf<{ sum: number }>()
}

export async function typedByTheMethod(): Promise<void> {
  const client = await connect(connector)
  expectTypeOf((await client.request('tools/list')).tools).toEqualTypeOf<Tool[]>()
  expectTypeOf(await client.request('tools/call', { name: 'add' })).toEqualTypeOf<CallToolResult>()
  expectTypeOf(await client.request('com.example/search', { q: 1 })).toEqualTypeOf<JsonObject>()
}

export async function untyped(): Promise<void> {
  const client = await connect(connector)
  expectTypeOf(await client.tools.whatever?.({ a: 1 })).toBeUnknown()
  await using other: Client = client
  for await (const tool of other.listTools()) expectTypeOf(tool.name).toBeString()
}

export function callbacks(): void {
  void connect(connector, {
    onElicit(ask) {
      if (ask.mode === 'url') expectTypeOf(ask.url).toBeString()
      else expectTypeOf(ask.schema.type).toEqualTypeOf<'object'>()
      return { action: 'decline' }
    },
    // @ts-expect-error: no such revision
    era: '2020-01-01',
  })
}
