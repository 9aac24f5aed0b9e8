/** The server of the dialogues. */

import { type Context, errorMessage, methodNotFound, type Responder } from '@mcpx/protocol'
import { createServer, type Server, type ServerOptions, ToolError } from '@mcpx/server'
import * as z from 'zod'

const info = { name: 'transcript-server', title: 'The server', version: '1.0.0' }

async function bookTable(seats: number, ctx: Context): Promise<string> {
  const order = await ctx.step('reserve', () => `order 17 for ${seats}`)
  const name = await ctx.elicit('name', { message: 'In whose name?', schema: z.object({ name: z.string().min(2) }) })
  if (name.action !== 'accept') return 'Nothing was booked.'
  const sure = await ctx.elicit('sure', { message: `Book ${order}?`, schema: z.object({ sure: z.boolean() }) })
  return sure.content?.sure === true ? `${order}, ${name.content.name}` : 'Nothing was booked.'
}

export function restaurant(options: ServerOptions = {}): Server {
  return createServer(info, { instructions: 'Book a table, then enjoy.', ...options })
    .tool(
      'add',
      {
        title: 'Add',
        description: 'Adds two numbers',
        input: z.object({ a: z.number(), b: z.number() }),
        output: z.object({ sum: z.number() }),
        annotations: { readOnlyHint: true },
      },
      async ({ a, b }, ctx) => {
        await ctx.progress(1, 2, 'adding')
        await ctx.log.info({ a, b }, 'math')
        return { sum: a + b }
      },
    )
    .tool('book', { description: 'Books a table', input: z.object({ seats: z.number().int() }) }, ({ seats }, ctx) =>
      bookTable(seats, ctx),
    )
    .tool('refuse', {}, () => {
      throw new ToolError('The kitchen is closed.')
    })
    .tool('break', {}, () => {
      throw new Error('the oven burns')
    })
    .tool('wait', {}, (_args, ctx) => {
      return new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
    })
    .resource('menu://today', { name: 'Menu', subscribe: true }, 'Soup')
    .prompt(
      'order',
      { args: z.object({ dish: z.string() }) },
      ({ dish }) => `I would like ${dish}.`,
    ) as unknown as Server
}

/** Makes a server reject discovery, like a server of the legacy era. */
export function legacyOnly(server: Responder): Responder {
  return {
    respond(message, exchange) {
      if ('id' in message && message.method === 'server/discover') {
        return errorMessage(message.id, methodNotFound(message.method))
      }
      return server.respond(message, exchange)
    },
    watchChanges: (session, tell) => server.watchChanges?.(session, tell) ?? (() => {}),
  }
}
