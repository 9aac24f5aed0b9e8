/** The shop with the official SDK; the differences of 1.x and 2.x are passed as an adapter. */

import * as z from 'zod'
import {
  choices,
  clock,
  createWaitState,
  fields,
  form,
  items,
  names,
  notes,
  PIXEL,
  reportInParts,
  reportSlowly,
  SOUND,
  stylesFor,
  untilAborted,
  untilReleased,
  type WaitState,
} from './shop-data.ts'

export interface InputRequest {
  readonly method: string
  readonly params: object
}

export type Answer = Record<string, unknown>

/** The context of a handler, independent of the SDK version. */
export interface CallContext {
  readonly signal: AbortSignal
  progress(done: number, total?: number, message?: string): Promise<void>
  log(level: string, data: unknown, logger: string): Promise<void>
  /** Returns a header of an HTTP request. */
  header(name: string): string | undefined
  clientName(): string | undefined
  /** Sends input requests and returns the answers; throws in 2.x while answers are missing. */
  ask<Key extends string>(requests: Readonly<Record<Key, InputRequest>>): Promise<Record<Key, Answer>>
}

export interface OfficialServer {
  registerTool(name: string, options: object, run: (args: never, extra: never) => unknown): unknown
  registerResource(name: string, uri: unknown, options: object, read: (uri: URL, variables: never) => unknown): unknown
  registerPrompt(name: string, options: object, run: (argsOrExtra: never) => unknown): unknown
  connect(transport: unknown): Promise<void>
  readonly server: { sendResourceUpdated(params: object): Promise<void> }
}

/** The state that several server objects share: 2.x creates one per request. */
export interface SharedState {
  readonly waits: WaitState
  readonly grown: string[]
  touched(uri: string): Promise<void>
  /** Notifies clients, if the server object does not notify them. */
  toolsChanged(): void
}

export function createSharedState(): SharedState {
  return { waits: createWaitState(), grown: [], touched: async () => {}, toolsChanged: () => {} }
}

export type Complete = (value: string, context?: { arguments?: Record<string, string> }) => string[]

export interface SdkAdapter {
  readonly ResourceTemplate: new (uri: string, options: object) => unknown
  completable(schema: z.ZodType, complete: Complete): z.ZodType
  /** Creates an optional argument; the versions expect the completion in different places. */
  optional(complete: Complete): z.ZodType
  handle(server: OfficialServer, method: string, run: (params: Record<string, string>) => object): void
  /** Runs a handler with a context. */
  run(server: OfficialServer, extra: never, body: (context: CallContext) => Promise<object>): Promise<unknown>
}

const textResult = (text: string) => ({ content: [{ type: 'text', text }] })
const nothing = z.object({})

export function fillShop(server: OfficialServer, adapter: SdkAdapter, state: SharedState): void {
  const tool = (
    name: string,
    inputSchema: z.ZodType,
    body: (args: Record<string, never>, context: CallContext) => object | Promise<object>,
    options = {},
  ) =>
    server.registerTool(name, { inputSchema, ...options }, (args: never, extra: never) =>
      adapter.run(server, extra, async (context) => body(args, context)),
    )
  addPlainTools(tool)
  addReportingTools(tool, state.waits)
  addInputRequestTools(tool)
  addChangingTools(server, tool, state)
  addResources(server, adapter)
  addPrompts(server, adapter)
}

type AddTool = (
  name: string,
  input: z.ZodType,
  body: (args: Record<string, never>, context: CallContext) => object | Promise<object>,
  options?: object,
) => void

function addPlainTools(tool: AddTool): void {
  tool('add', z.object({ a: z.number(), b: z.number() }), ({ a = 0, b = 0 }) => sum(a + b), {
    title: 'Addition',
    description: 'Adds two numbers',
    outputSchema: z.object({ sum: z.number() }),
    annotations: { readOnlyHint: true },
  })
  tool('echo', z.object({ text: z.string() }), ({ text = '' }) => textResult(text))
  tool('contents', nothing, () => ({
    content: [
      { type: 'text', text: 'words' },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      { type: 'audio', data: SOUND, mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'note://1', mimeType: 'text/plain', text: 'Note 1' } },
      { type: 'resource_link', uri: 'note://2', name: 'Second note' },
    ],
  }))
  tool('fail', nothing, () => ({ ...textResult('It failed.'), isError: true }))
  tool('who', nothing, (_args, context) => textResult(context.clientName() ?? 'nobody'))
  tool('region', z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }), ({ region }, context) =>
    textResult(`${region}, ${context.header('mcp-param-region') ?? 'no header'}`),
  )
}

const sum = (total: number) => ({ ...textResult(JSON.stringify({ sum: total })), structuredContent: { sum: total } })

function addReportingTools(tool: AddTool, waits: WaitState): void {
  const tagged = z.object({ tag: z.string() })
  tool('steps', tagged, async ({ tag = '' }, context) => {
    for (const done of [1, 2, 3]) await context.progress(done, 3, `step ${done}`)
    await untilReleased(waits, tag, context.signal)
    return textResult('done')
  })
  tool('release', tagged, ({ tag = '' }) => {
    waits.released.push(tag)
    return textResult('released')
  })
  tool('talk', nothing, async (_args, context) => {
    await context.log('debug', 'whisper', 'shop')
    await context.log('info', 'hum', 'shop')
    await context.log('notice', 'a word', 'shop')
    await context.log('warning', { careful: true }, 'shop')
    return textResult('talked')
  })
  tool('slow', nothing, async (_args, context) => textResult(await reportSlowly(context)))
  tool('parts', tagged, async ({ tag = '' }, context) => textResult(await reportInParts(tag, waits, context)))
  tool('wait', tagged, async ({ tag = '' }, context) => {
    waits.started.push(tag)
    await context.progress(1)
    await untilAborted(context.signal)
    waits.stopped.push(tag)
    return textResult('stopped')
  })
  tool('waits', tagged, ({ tag = '' }) =>
    textResult(JSON.stringify({ started: waits.started.includes(tag), stopped: waits.stopped.includes(tag) })),
  )
}

const createForm = (message: string, requestedSchema: object = form): InputRequest => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema },
})

function addInputRequestTools(tool: AddTool): void {
  tool('ask', z.object({ message: z.string() }), async ({ message = '' }, context) => {
    const { action, content } = (await context.ask({ form: createForm(message) })).form
    return textResult(JSON.stringify({ action, ...(content !== undefined && { content }) }))
  })
  tool('ask-twice', nothing, async (_args, context) => {
    const { first } = await context.ask({ first: createForm('First?') })
    const { second } = await context.ask({ second: createForm('Decline second?') })
    return textResult(`${first.action} ${second.action}`)
  })
  tool('ask-both', nothing, async (_args, context) => {
    const { left, right } = await context.ask({ left: createForm('Left?'), right: createForm('Decline right?') })
    return textResult(`${left.action} ${right.action}`)
  })
  tool('ask-fields', nothing, async (_args, context) =>
    textResult(JSON.stringify((await context.ask({ form: createForm('Fields?', fields) })).form.content)),
  )
  tool('ask-choices', nothing, async (_args, context) =>
    textResult(JSON.stringify((await context.ask({ form: createForm('Choices?', choices) })).form.content)),
  )
  tool('visit', nothing, async (_args, context) => {
    const params = { mode: 'url', message: 'Pay here', url: 'https://pay.example/1', elicitationId: 'visit-1' }
    return textResult(String((await context.ask({ visit: { method: 'elicitation/create', params } })).visit.action))
  })
  addSamplingTools(tool)
}

function addSamplingTools(tool: AddTool): void {
  const write = (text: string, more = {}): InputRequest => ({
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 10, ...more },
  })
  tool('write', nothing, async (_args, context) => {
    const { content } = (await context.ask({ write: write('Hello') })).write
    return textResult((content as { text: string }).text)
  })
  tool('write-with-tools', nothing, async (_args, context) =>
    textResult(
      JSON.stringify((await context.ask({ write: write('How late is it?', { tools: [clock] }) })).write.content),
    ),
  )
  tool('folders', nothing, async (_args, context) =>
    textResult(JSON.stringify((await context.ask({ folders: { method: 'roots/list', params: {} } })).folders.roots)),
  )
}

function addChangingTools(server: OfficialServer, tool: AddTool, state: SharedState): void {
  const addGrownTool = (name: string) => tool(name, nothing, () => textResult('ripe'))
  for (const name of state.grown) addGrownTool(name)
  tool('touch', z.object({ uri: z.string() }), async ({ uri = '' }) => {
    await server.server.sendResourceUpdated({ uri }).catch(() => {})
    await state.touched(uri)
    return textResult('touched')
  })
  tool('grow', nothing, () => {
    const name = `grown-${state.grown.length + 1}`
    state.grown.push(name)
    addGrownTool(name)
    state.toolsChanged()
    return textResult(name)
  })
}

function addResources(server: OfficialServer, adapter: SdkAdapter): void {
  for (const note of notes) {
    const uri = `note://${note}`
    server.registerResource(`note-${note}`, uri, { mimeType: 'text/plain' }, () => ({
      contents: [{ uri, mimeType: 'text/plain', text: `Note ${note}` }],
    }))
  }
  server.registerResource('pixel', 'blob://pixel', { mimeType: 'image/png' }, () => ({
    contents: [{ uri: 'blob://pixel', mimeType: 'image/png', blob: PIXEL }],
  }))
  const complete = { id: (value: string) => items.filter((item) => item.startsWith(value)) }
  server.registerResource(
    'item',
    new adapter.ResourceTemplate('item://{id}', { list: undefined, complete }),
    { mimeType: 'text/plain' },
    (uri, { id }: { id: string }) => ({
      contents: [{ uri: uri.href, mimeType: 'text/plain', text: `Item ${id}` }],
    }),
  )
  adapter.handle(server, 'resources/list', pageOfResources)
}

/** The official servers do not support pagination, so this code creates the pages. */
function pageOfResources({ cursor = '0' }: Record<string, string>): object {
  const all = [
    ...notes.map((note) => ({ uri: `note://${note}`, name: `note-${note}`, mimeType: 'text/plain' })),
    { uri: 'blob://pixel', name: 'pixel', mimeType: 'image/png' },
  ]
  const start = Number(cursor)
  const next = start + 4 < all.length ? { nextCursor: String(start + 4) } : {}
  return { resources: all.slice(start, start + 4), ...next }
}

function addPrompts(server: OfficialServer, adapter: SdkAdapter): void {
  const argsSchema = {
    name: adapter.completable(z.string(), (value) => names.filter((name) => name.startsWith(value))),
    style: adapter.optional((_typed, context) => stylesFor(context?.arguments?.name)),
  }
  const greet = ({ name, style }: { name: string; style?: string }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}, ${style ?? 'as you like'}` } }],
  })
  server.registerPrompt('greet', { description: 'Greets somebody', argsSchema }, greet)
  server.registerPrompt('interview', {}, (extra: never) =>
    adapter.run(server, extra, async (context) => {
      const { content } = (await context.ask({ who: createForm('Who are you?') })).who
      const text = `Interview ${(content as { name: string }).name}`
      return { messages: [{ role: 'user', content: { type: 'text', text } }] }
    }),
  )
}
