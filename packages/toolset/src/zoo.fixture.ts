/** A client with tools of every kind, for the tests of the adapters. */
import { type Client, connect } from '@mcpx/client'
import { audio, createServer, image, type Server, ToolError, text } from '@mcpx/server'
import { z } from 'zod'

export const PNG = 'iVBORw0KGgo='

export const zoo: Server = createServer({ name: 'zoo', version: '1.0.0' })
  .tool(
    'feed',
    { description: 'Feeds an animal', input: z.object({ animal: z.string(), portions: z.int().min(1).optional() }) },
    ({ animal, portions = 1 }) => `The ${animal} is fed ${portions} times.`,
  )
  .tool('photo', {}, () => [text('An owl:'), image(PNG, 'image/png'), audio('UklGRg==', 'audio/wav')])
  .tool('fail', {}, () => {
    throw new ToolError('The owl is asleep.')
  })
  .tool('links', {}, () => [
    { type: 'resource_link', uri: 'zoo://map', name: 'map', mimeType: 'text/plain' },
    { type: 'resource', resource: { uri: 'zoo://hours', text: '9 to 5' } },
    { type: 'resource', resource: { uri: 'zoo://plan.pdf', mimeType: 'application/pdf', blob: 'JVBERg==' } },
    { type: 'resource', resource: { uri: 'zoo://all.zip', mimeType: 'application/zip', blob: 'UEs=' } },
  ])
  .tool('count', { output: z.object({ owls: z.number() }) }, () => ({ owls: 3 }))
  .tool('slow', {}, async (_, ctx) => {
    await ctx.progress(1, 2, 'half')
    await new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
  })

export const connectZoo = (): Promise<Client> => connect(zoo)
