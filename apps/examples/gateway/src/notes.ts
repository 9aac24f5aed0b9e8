/** An independent server over stdio. */
import { createServer } from '@mcpx/server'
import { serveStdio } from '@mcpx/transport-stdio'
import { z } from 'zod'

const notes: string[] = []

const server = createServer({ name: 'notes', version: '1.0.0' }).tool(
  'add',
  { input: z.object({ text: z.string() }) },
  async ({ text }, ctx) => {
    await ctx.progress(1, 2, 'asking')
    const mood = await ctx.elicit('mood', { message: 'In which mood?', schema: z.object({ mood: z.string() }) })
    if (mood.action !== 'accept') return 'Not added.'
    await ctx.progress(2, 2, 'writing')
    notes.push(text)
    return `Note ${notes.length}, ${mood.content.mood}`
  },
)

await serveStdio(server)
