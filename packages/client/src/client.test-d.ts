/** The types of a client. */

import type { CallToolResult, Catalogued, Connector, JsonObject, Responder, Tool } from '@mcpx/protocol'
import { expectTypeOf } from 'vitest'
import * as z from 'zod'
import {
  type Client,
  type ClientExtension,
  type ClientOptions,
  connect,
  connectAll,
  proxy,
  type TaskHandle,
} from './index.ts'

interface Types {
  tools: {
    add: { input: { a: number; b: number }; output: { sum: number } }
    now: { input: Record<string, never>; output: string }
    search: { input: { query?: string }; output: unknown }
  }
  prompts: { review: { code: string; lang?: string | undefined }; hello: Record<string, never> }
}

declare const server: Responder & Catalogued<Types>
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

export async function typedCalls(name: string): Promise<void> {
  const client = await connect(server)
  const { structuredContent, isError } = await client.callTool('add', { a: 1, b: 2 }, { timeout: 5 })
  expectTypeOf(structuredContent).toEqualTypeOf<{ sum: number } | undefined>()
  expectTypeOf(isError).toEqualTypeOf<boolean | undefined>()
  expectTypeOf(await client.callTool('search')).toEqualTypeOf<CallToolResult>()
  // @ts-expect-error: a is a number
  await client.callTool('add', { a: '1', b: 2 })
  // @ts-expect-error: the arguments are required
  await client.callTool('add')
  await client.getPrompt('review', { code: 'x' })
  await client.getPrompt('hello')
  // @ts-expect-error: there is no argument `text`
  await client.getPrompt('review', { text: 'x' })
  // @ts-expect-error: the arguments are required
  await client.getPrompt('review')
  // Names that the type of the server does not have are allowed, because tools can be added while it runs.
  expectTypeOf(await client.callTool('later', { any: 1 })).toEqualTypeOf<CallToolResult>()
  expectTypeOf(await client.callTool(name, { any: 1 })).toEqualTypeOf<CallToolResult>()
  await client.getPrompt(name, { any: 'x' })
  expectTypeOf(client.callTool<'add'>)
    .parameter(0)
    .toEqualTypeOf<'add'>()
}

/** The types of one kind of items do not depend on those of another. */
declare const odd: Responder & { readonly '~catalogue'?: { tools: Types['tools']; prompts: { p: { n: number } } } }

export async function typedAlone(): Promise<void> {
  const client = await connect(odd)
  expectTypeOf(await client.tools.add({ a: 1, b: 2 })).toEqualTypeOf<{ sum: number }>()
  // @ts-expect-error: a is a number
  await client.tools.add({ a: '1', b: 2 })
}

/** A typed client can be passed where any client is accepted. */
export async function assignable(): Promise<void> {
  const client: Client = await connect(server)
  proxy(await connect<typeof server>(connector))
  expectTypeOf(await client.callTool('whatever', { a: '1' })).toEqualTypeOf<CallToolResult>()
}

export async function typedByTheTarget(): Promise<void> {
  const client = await connect(server)
  expectTypeOf(await client.tools.add({ a: 1, b: 2 })).toEqualTypeOf<{ sum: number }>()
}

/** A connector with members of its own, as transports return. */
declare const spawned: Connector & { readonly peer: string }

export async function typedByAConnector(): Promise<void> {
  expectTypeOf(await connect(connector)).toEqualTypeOf<Client>()
  expectTypeOf(await connect(spawned)).toEqualTypeOf<Client>()
  expectTypeOf(await connect<typeof server>(spawned)).toEqualTypeOf<Client<typeof server>>()
}

export async function misspelledOptions(): Promise<void> {
  // @ts-expect-error: 'timeuot' does not exist in type 'ClientOptions'. Did you mean to write 'timeout'?
  await connect(connector, { timeuot: 3 })
  // @ts-expect-error: 'timeuot' does not exist in type 'ClientOptions'. Did you mean to write 'timeout'?
  await connect(spawned, { timeuot: 3 })
  // @ts-expect-error: 'onElicitation' does not exist in type 'ClientOptions'
  await connect(server, { onElicitation: () => ({ action: 'cancel' }) })
  // @ts-expect-error: 'timeuot' does not exist in type 'ClientOptions'. Did you mean to write 'timeout'?
  await connect<typeof server>(connector, { timeuot: 3 })
  // @ts-expect-error: 'timeuot' does not exist in type 'ClientOptions'. Did you mean to write 'timeout'?
  await connectAll({ one: connector, two: server }, { timeuot: 3 })
  // @ts-expect-error: a string is not a target
  await connect('https://example.com')
  // @ts-expect-error: a string is not a target
  await connectAll({ one: 'https://example.com' })
  // @ts-expect-error: no such server
  await connectAll({ one: connector }, { servers: { two: {} } })
  // One signature: its parameters can be read, so that an error names the option.
  expectTypeOf<Parameters<typeof connect>[1]>().toEqualTypeOf<ClientOptions | undefined>()
}

export async function groups(): Promise<void> {
  const all = await connectAll({ math: server, git: spawned })
  expectTypeOf(await all.clients.math?.tools.add({ a: 1, b: 2 })).toEqualTypeOf<{ sum: number } | undefined>()
  expectTypeOf(all.clients.git).toEqualTypeOf<Client | undefined>()
  expectTypeOf(all.failures.git).toEqualTypeOf<Error | undefined>()
  // @ts-expect-error: no such server
  all.clients.mail
  // Options of one server do not determine the names of all.
  const one = await connectAll({ math: server, git: spawned }, { servers: { math: { timeout: 3 } } })
  expectTypeOf(await one.clients.math?.tools.add({ a: 1, b: 2 })).toEqualTypeOf<{ sum: number } | undefined>()
  expectTypeOf(one.clients.git).toEqualTypeOf<Client | undefined>()
  // @ts-expect-error: no such server
  await connectAll({ math: server, git: spawned }, { servers: { mail: {} } })
  const remote = await connectAll<{ math: typeof server }>({ math: connector })
  expectTypeOf(remote.clients.math).toEqualTypeOf<Client<typeof server> | undefined>()
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

export async function tasks(): Promise<void> {
  const client = await connect(server)
  const handle = await client.callTool('add', { a: 1, b: 2 }, { task: 'handle', timeout: 5 })
  expectTypeOf(handle.id).toBeString()
  expectTypeOf((await handle.result()).structuredContent).toEqualTypeOf<{ sum: number } | undefined>()
  expectTypeOf(await client.callTool('later', {}, { task: 'handle' })).toEqualTypeOf<TaskHandle>()
  expectTypeOf(client.task('id')).toEqualTypeOf<TaskHandle>()
  expectTypeOf((await client.task('id', { tool: 'add' }).result()).structuredContent).toEqualTypeOf<
    { sum: number } | undefined
  >()
  // @ts-expect-error: a is a number
  await client.callTool('add', { a: '1', b: 2 }, { task: 'handle' })
  // @ts-expect-error: no such mode
  await client.callTool('add', { a: 1, b: 2 }, { task: 'later' })
  const untyped = await connect(connector)
  expectTypeOf(await untyped.callTool('add', {}, { task: 'handle' })).toEqualTypeOf<TaskHandle>()
  expectTypeOf(await untyped.callTool('add', {})).toEqualTypeOf<CallToolResult>()
}

const greetings = {
  id: 'com.example/greetings',
  methods: {
    'com.example/greet': { params: z.object({ name: z.string() }), result: z.object({ text: z.string() }) },
    'com.example/count': {
      params: z.object({ since: z.optional(z.string()) }),
      result: z.object({ count: z.number() }),
    },
    'com.example/any': {},
  },
  notifications: { 'notifications/com.example/greeted': z.object({ name: z.string(), at: z.coerce.date() }) },
  subscriptions: { greetings: z.boolean() },
} satisfies ClientExtension

export async function extensions(): Promise<void> {
  const client = await connect<typeof server>(connector, { extensions: [greetings] })
  const greeted = client.extension(greetings)
  expectTypeOf(await greeted.request('com.example/greet', { name: 'Ada' })).toEqualTypeOf<{ text: string }>()
  expectTypeOf(await greeted.request('com.example/count')).toEqualTypeOf<{ count: number }>()
  expectTypeOf(await greeted.request('com.example/any', { x: 1 }, { timeout: 5 })).toEqualTypeOf<JsonObject>()
  // @ts-expect-error: the parameters are required
  await greeted.request('com.example/greet')
  // @ts-expect-error: name is a string
  await greeted.request('com.example/greet', { name: 1 })
  // @ts-expect-error: no such method
  await greeted.request('com.example/gret', { name: 'Ada' })
  greeted.on('notifications/com.example/greeted', ({ name, at }) => {
    expectTypeOf(name).toBeString()
    expectTypeOf(at).toEqualTypeOf<Date>()
  })
  // @ts-expect-error: no such notification
  greeted.on('notifications/com.example/left', () => {})
  greeted.listen({ greetings: true })
  // @ts-expect-error: no such member
  greeted.listen({ rooms: true })
  // @ts-expect-error: a boolean
  greeted.listen({ greetings: 'yes' })
}
