/** The shop, made with the official SDK; what its two lines do differently is handed in. */

import * as z from 'zod'
import {
  choices,
  clock,
  fields,
  form,
  items,
  names,
  notes,
  noWaits,
  PIXEL,
  SOUND,
  stylesFor,
  tellInParts,
  tellSlowly,
  untilAborted,
  untilReleased,
  type Waits,
} from './goods.ts'

export interface Question {
  readonly method: string
  readonly params: object
}

export type Answer = Record<string, unknown>

/** What a handler may do, in the words of neither line. */
export interface Talk {
  readonly signal: AbortSignal
  progress(done: number, total?: number, message?: string): Promise<void>
  log(level: string, data: unknown, logger: string): Promise<void>
  /** A header of the request, if it came by HTTP. */
  header(name: string): string | undefined
  clientName(): string | undefined
  /** Asks the client; where it cannot be asked in the middle of a call, this throws what the line needs to be told. */
  ask<Key extends string>(questions: Readonly<Record<Key, Question>>): Promise<Record<Key, Answer>>
}

export interface OfficialServer {
  registerTool(name: string, options: object, run: (args: never, extra: never) => unknown): unknown
  registerResource(name: string, uri: unknown, options: object, read: (uri: URL, variables: never) => unknown): unknown
  registerPrompt(name: string, options: object, run: (argsOrExtra: never) => unknown): unknown
  connect(transport: unknown): Promise<void>
  readonly server: { sendResourceUpdated(params: object): Promise<void> }
}

/** What outlives one server object: a line may make one for each request. */
export interface Back {
  readonly waits: Waits
  readonly grown: string[]
  touched(uri: string): Promise<void>
  /** Tells the clients, where the server object does not do so by itself. */
  toolsChanged(): void
}

export function createBack(): Back {
  return { waits: noWaits(), grown: [], touched: async () => {}, toolsChanged: () => {} }
}

export type Complete = (typed: string, context?: { arguments?: Record<string, string> }) => string[]

export interface Line {
  readonly ResourceTemplate: new (uri: string, options: object) => unknown
  completable(schema: z.ZodType, complete: Complete): z.ZodType
  /** An argument that may be left out; the lines look for the completion in different places. */
  optional(complete: Complete): z.ZodType
  handle(server: OfficialServer, method: string, run: (params: Record<string, string>) => object): void
  /** Runs a tool so that it can talk. */
  run(server: OfficialServer, extra: never, body: (talk: Talk) => Promise<object>): Promise<unknown>
}

const words = (text: string) => ({ content: [{ type: 'text', text }] })
const nothing = z.object({})

export function fillShop(server: OfficialServer, line: Line, back: Back): void {
  const tool = (
    name: string,
    inputSchema: z.ZodType,
    body: (args: Record<string, never>, talk: Talk) => object | Promise<object>,
    options = {},
  ) =>
    server.registerTool(name, { inputSchema, ...options }, (args: never, extra: never) =>
      line.run(server, extra, async (talk) => body(args, talk)),
    )
  addPlainTools(tool)
  addTalkingTools(tool, back.waits)
  addAskingTools(tool)
  addChangingTools(server, tool, back)
  addResources(server, line)
  addPrompts(server, line)
}

type AddTool = (
  name: string,
  input: z.ZodType,
  body: (args: Record<string, never>, talk: Talk) => object | Promise<object>,
  options?: object,
) => void

function addPlainTools(tool: AddTool): void {
  tool('add', z.object({ a: z.number(), b: z.number() }), ({ a = 0, b = 0 }) => sum(a + b), {
    title: 'Addition',
    description: 'Adds two numbers',
    outputSchema: z.object({ sum: z.number() }),
    annotations: { readOnlyHint: true },
  })
  tool('echo', z.object({ text: z.string() }), ({ text = '' }) => words(text))
  tool('contents', nothing, () => ({
    content: [
      { type: 'text', text: 'words' },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      { type: 'audio', data: SOUND, mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'note://1', mimeType: 'text/plain', text: 'Note 1' } },
      { type: 'resource_link', uri: 'note://2', name: 'Second note' },
    ],
  }))
  tool('fail', nothing, () => ({ ...words('It failed.'), isError: true }))
  tool('who', nothing, (_args, talk) => words(talk.clientName() ?? 'nobody'))
  tool('region', z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }), ({ region }, talk) =>
    words(`${region}, ${talk.header('mcp-param-region') ?? 'no header'}`),
  )
}

const sum = (total: number) => ({ ...words(JSON.stringify({ sum: total })), structuredContent: { sum: total } })

function addTalkingTools(tool: AddTool, waits: Waits): void {
  const tagged = z.object({ tag: z.string() })
  tool('steps', tagged, async ({ tag = '' }, talk) => {
    for (const done of [1, 2, 3]) await talk.progress(done, 3, `step ${done}`)
    await untilReleased(waits, tag, talk.signal)
    return words('done')
  })
  tool('release', tagged, ({ tag = '' }) => {
    waits.released.push(tag)
    return words('released')
  })
  tool('talk', nothing, async (_args, talk) => {
    await talk.log('debug', 'whisper', 'shop')
    await talk.log('info', 'hum', 'shop')
    await talk.log('notice', 'a word', 'shop')
    await talk.log('warning', { careful: true }, 'shop')
    return words('talked')
  })
  tool('slow', nothing, async (_args, talk) => words(await tellSlowly(talk)))
  tool('parts', tagged, async ({ tag = '' }, talk) => words(await tellInParts(tag, waits, talk)))
  tool('wait', tagged, async ({ tag = '' }, talk) => {
    waits.started.push(tag)
    await talk.progress(1)
    await untilAborted(talk.signal)
    waits.stopped.push(tag)
    return words('stopped')
  })
  tool('waits', tagged, ({ tag = '' }) =>
    words(JSON.stringify({ started: waits.started.includes(tag), stopped: waits.stopped.includes(tag) })),
  )
}

const asked = (message: string, requestedSchema: object = form): Question => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema },
})

function addAskingTools(tool: AddTool): void {
  tool('ask', z.object({ message: z.string() }), async ({ message = '' }, talk) => {
    const { action, content } = (await talk.ask({ form: asked(message) })).form
    return words(JSON.stringify({ action, ...(content !== undefined && { content }) }))
  })
  tool('ask-twice', nothing, async (_args, talk) => {
    const { first } = await talk.ask({ first: asked('First?') })
    const { second } = await talk.ask({ second: asked('Decline second?') })
    return words(`${first.action} ${second.action}`)
  })
  tool('ask-both', nothing, async (_args, talk) => {
    const { left, right } = await talk.ask({ left: asked('Left?'), right: asked('Decline right?') })
    return words(`${left.action} ${right.action}`)
  })
  tool('ask-fields', nothing, async (_args, talk) =>
    words(JSON.stringify((await talk.ask({ form: asked('Fields?', fields) })).form.content)),
  )
  tool('ask-choices', nothing, async (_args, talk) =>
    words(JSON.stringify((await talk.ask({ form: asked('Choices?', choices) })).form.content)),
  )
  tool('visit', nothing, async (_args, talk) => {
    const params = { mode: 'url', message: 'Pay here', url: 'https://pay.example/1', elicitationId: 'visit-1' }
    return words(String((await talk.ask({ visit: { method: 'elicitation/create', params } })).visit.action))
  })
  addModelTools(tool)
}

function addModelTools(tool: AddTool): void {
  const write = (text: string, more = {}): Question => ({
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 10, ...more },
  })
  tool('write', nothing, async (_args, talk) => {
    const { content } = (await talk.ask({ write: write('Hello') })).write
    return words((content as { text: string }).text)
  })
  tool('write-with-tools', nothing, async (_args, talk) =>
    words(JSON.stringify((await talk.ask({ write: write('How late is it?', { tools: [clock] }) })).write.content)),
  )
  tool('folders', nothing, async (_args, talk) =>
    words(JSON.stringify((await talk.ask({ folders: { method: 'roots/list', params: {} } })).folders.roots)),
  )
}

function addChangingTools(server: OfficialServer, tool: AddTool, back: Back): void {
  const ripen = (name: string) => tool(name, nothing, () => words('ripe'))
  for (const name of back.grown) ripen(name)
  tool('touch', z.object({ uri: z.string() }), async ({ uri = '' }) => {
    await server.server.sendResourceUpdated({ uri }).catch(() => {})
    await back.touched(uri)
    return words('touched')
  })
  tool('grow', nothing, () => {
    const name = `grown-${back.grown.length + 1}`
    back.grown.push(name)
    ripen(name)
    back.toolsChanged()
    return words(name)
  })
}

function addResources(server: OfficialServer, line: Line): void {
  for (const note of notes) {
    const uri = `note://${note}`
    server.registerResource(`note-${note}`, uri, { mimeType: 'text/plain' }, () => ({
      contents: [{ uri, mimeType: 'text/plain', text: `Note ${note}` }],
    }))
  }
  server.registerResource('pixel', 'blob://pixel', { mimeType: 'image/png' }, () => ({
    contents: [{ uri: 'blob://pixel', mimeType: 'image/png', blob: PIXEL }],
  }))
  const complete = { id: (typed: string) => items.filter((item) => item.startsWith(typed)) }
  server.registerResource(
    'item',
    new line.ResourceTemplate('item://{id}', { list: undefined, complete }),
    { mimeType: 'text/plain' },
    (uri, { id }: { id: string }) => ({
      contents: [{ uri: uri.href, mimeType: 'text/plain', text: `Item ${id}` }],
    }),
  )
  line.handle(server, 'resources/list', pageOfResources)
}

/** The official servers give lists in one page, so these pages are made by hand, as their users do. */
function pageOfResources({ cursor = '0' }: Record<string, string>): object {
  const all = [
    ...notes.map((note) => ({ uri: `note://${note}`, name: `note-${note}`, mimeType: 'text/plain' })),
    { uri: 'blob://pixel', name: 'pixel', mimeType: 'image/png' },
  ]
  const start = Number(cursor)
  const next = start + 4 < all.length ? { nextCursor: String(start + 4) } : {}
  return { resources: all.slice(start, start + 4), ...next }
}

function addPrompts(server: OfficialServer, line: Line): void {
  const argsSchema = {
    name: line.completable(z.string(), (typed) => names.filter((name) => name.startsWith(typed))),
    style: line.optional((_typed, context) => stylesFor(context?.arguments?.name)),
  }
  const say = ({ name, style }: { name: string; style?: string }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}, ${style ?? 'as you like'}` } }],
  })
  server.registerPrompt('greet', { description: 'Greets somebody', argsSchema }, say)
  server.registerPrompt('interview', {}, (extra: never) =>
    line.run(server, extra, async (talk) => {
      const { content } = (await talk.ask({ who: asked('Who are you?') })).who
      const text = `Interview ${(content as { name: string }).name}`
      return { messages: [{ role: 'user', content: { type: 'text', text } }] }
    }),
  )
}
