/** The shop with our server. */

import { audio, createServer, image, link, resource, type Server, ToolError, text } from '@mcpx/server'
import { type HttpServer, serveHttp } from '@mcpx/transport-http/node'
import * as z from 'zod'
import {
  choices,
  clock,
  createWaitState,
  fields,
  form,
  info,
  instructions,
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
} from './shop-data.ts'

export function createShop(): Server {
  const server = createServer(info, { instructions, pageSize: 4 })
  addPlainTools(server)
  addReportingTools(server)
  addInputRequestTools(server)
  addChangingTools(server)
  addResources(server)
  server.prompt(
    'greet',
    {
      description: 'Greets somebody',
      args: z.object({ name: z.string(), style: z.string().optional() }),
      complete: {
        name: names,
        style: (_value, known) => stylesFor(known.name),
      },
    },
    ({ name, style }) => `Greet ${name}, ${style ?? 'as you like'}`,
  )
  server.prompt('interview', {}, async (_args, ctx) => {
    const { content } = await ctx.elicit('who', { message: 'Who are you?', schema: z.object({ name: z.string() }) })
    return `Interview ${content?.name}`
  })
  return server
}

export function serveShop(): Promise<HttpServer> {
  return serveHttp(createShop(), { port: 0, sse: '/sse', sessions: { retry: 10 } })
}

function addPlainTools(server: Server): void {
  server
    .tool(
      'add',
      {
        title: 'Addition',
        description: 'Adds two numbers',
        input: z.object({ a: z.number(), b: z.number() }),
        output: z.object({ sum: z.number() }),
        annotations: { readOnlyHint: true },
      },
      ({ a, b }) => ({ sum: a + b }),
    )
    .tool('echo', { input: z.object({ text: z.string() }) }, (args) => args.text)
    .tool('contents', {}, () => [
      text('words'),
      image(PIXEL, 'image/png'),
      audio(SOUND, 'audio/wav'),
      resource('note://1', 'Note 1'),
      link('note://2', 'Second note'),
    ])
    .tool('fail', {}, () => {
      throw new ToolError('It failed.')
    })
    .tool('who', {}, (_args, ctx) => ctx.client.info?.name ?? 'nobody')
    .tool(
      'region',
      { input: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }) },
      ({ region }, ctx) => `${region}, ${ctx.requestInfo?.headers.get('mcp-param-region') ?? 'no header'}`,
    )
}

function addReportingTools(server: Server): void {
  const waits = createWaitState()
  const tag = z.object({ tag: z.string() })
  server
    .tool('steps', { input: tag }, async (args, ctx) => {
      for (const done of [1, 2, 3]) await ctx.progress(done, 3, `step ${done}`)
      await untilReleased(waits, args.tag, ctx.signal)
      return 'done'
    })
    .tool('release', { input: tag }, (args) => {
      waits.released.push(args.tag)
      return 'released'
    })
    .tool('talk', {}, async (_args, ctx) => {
      await ctx.log.debug('whisper', 'shop')
      await ctx.log.info('hum', 'shop')
      await ctx.log.notice('a word', 'shop')
      await ctx.log.warning({ careful: true }, 'shop')
      return 'talked'
    })
    .tool('slow', {}, (_args, ctx) => reportSlowly(ctx))
    .tool('parts', { input: tag }, (args, ctx) => reportInParts(args.tag, waits, ctx))
    .tool('wait', { input: tag }, async (args, ctx) => {
      waits.started.push(args.tag)
      await ctx.progress(1)
      await untilAborted(ctx.signal)
      waits.stopped.push(args.tag)
      return 'stopped'
    })
    .tool('waits', { input: tag }, (args) =>
      JSON.stringify({ started: waits.started.includes(args.tag), stopped: waits.stopped.includes(args.tag) }),
    )
}

function addInputRequestTools(server: Server): void {
  const Answer = z.object({ name: z.string(), age: z.number().optional() })
  server
    .tool('ask', { input: z.object({ message: z.string() }) }, async ({ message }, ctx) => {
      const { action, content } = await ctx.elicit('form', { message, schema: form })
      return JSON.stringify({ action, ...(content !== undefined && { content }) })
    })
    .tool('ask-twice', {}, async (_args, ctx) => {
      const first = await ctx.elicit('first', { message: 'First?', schema: Answer })
      const second = await ctx.elicit('second', { message: 'Decline second?', schema: Answer })
      return `${first.action} ${second.action}`
    })
    .tool('ask-both', {}, async (_args, ctx) => {
      const params = (message: string) => ({ message, requestedSchema: form })
      const { left, right } = await ctx.ask({
        left: { method: 'elicitation/create', params: params('Left?') },
        right: { method: 'elicitation/create', params: params('Decline right?') },
      })
      return `${actionOf(left)} ${actionOf(right)}`
    })
    .tool('ask-fields', {}, async (_args, ctx) => {
      return JSON.stringify((await ctx.elicit('fields', { message: 'Fields?', schema: fields })).content)
    })
    .tool('ask-choices', {}, async (_args, ctx) => {
      return JSON.stringify((await ctx.elicit('choices', { message: 'Choices?', schema: choices })).content)
    })
    .tool('visit', {}, async (_args, ctx) => {
      const { action } = await ctx.openUrl('visit', { message: 'Pay here', url: 'https://pay.example/1' })
      return action
    })
    .tool('write', {}, async (_args, ctx) => {
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hello' } }]
      const { content } = await ctx.sample('write', { messages, maxTokens: 10 })
      const [first] = Array.isArray(content) ? content : [content]
      return first?.type === 'text' ? first.text : JSON.stringify(content)
    })
    .tool('write-with-tools', {}, async (_args, ctx) => {
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'How late is it?' } }]
      const { content } = await ctx.sample('write', { messages, maxTokens: 10, tools: [clock] })
      return JSON.stringify(content)
    })
    .tool('folders', {}, async (_args, ctx) => JSON.stringify(await ctx.roots()))
}

function actionOf(answer: object | undefined): unknown {
  return (answer as { action?: string } | undefined)?.action
}

function addChangingTools(server: Server): void {
  let grown = 0
  server
    .tool('touch', { input: z.object({ uri: z.string() }) }, ({ uri }) => {
      server.resourceUpdated(uri)
      return 'touched'
    })
    .tool('grow', {}, () => {
      grown += 1
      server.tool(`grown-${grown}`, {}, () => 'ripe')
      return `grown-${grown}`
    })
}

function addResources(server: Server): void {
  for (const note of notes) {
    server.resource(`note://${note}`, { name: `note-${note}`, mimeType: 'text/plain', subscribe: true }, `Note ${note}`)
  }
  server.resource('blob://pixel', { name: 'pixel', mimeType: 'image/png' }, () =>
    Uint8Array.from(atob(PIXEL), (letter) => letter.charCodeAt(0)),
  )
  server.resource(
    'item://{id}',
    {
      name: 'item',
      mimeType: 'text/plain',
      complete: { id: items },
    },
    ({ id }) => (items.includes(id) ? `Item ${id}` : undefined),
  )
}
