/** The server. It does not depend on HTTP: the same object can be served over stdio. */
import { createServer } from '@mcpx/server'
import { z } from 'zod'

const notes = new Map([['1', 'Buy milk']])

export const server = createServer({ name: 'notes', version: '1.0.0' })
  .tool(
    'search',
    {
      description: 'Finds notes by a word',
      input: z.object({ word: z.string() }),
      output: z.object({ ids: z.array(z.string()) }),
      annotations: { readOnlyHint: true },
    },
    async ({ word }, ctx) => {
      const ids: string[] = []
      for (const [index, [id, text]] of [...notes].entries()) {
        await ctx.progress(index + 1, notes.size)
        if (text.toLowerCase().includes(word.toLowerCase())) ids.push(id)
      }
      return { ids }
    },
  )
  .tool(
    'write',
    {
      input: z.object({ id: z.string(), text: z.string() }),
      // For other users the tool does not exist: it is not listed and cannot be called.
      visible: (auth) => auth?.scopes?.includes('write') === true,
    },
    async (note, ctx) => {
      if (notes.has(note.id)) {
        // Asks the user during the call and waits for the answer.
        const schema = z.object({ sure: z.boolean() })
        const answer = await ctx.elicit('replace', { message: `Replace note ${note.id}?`, schema })
        if (answer.action !== 'accept' || !answer.content.sure) return 'Nothing was written.'
      }
      notes.set(note.id, note.text)
      server.resourceUpdated(`note://${note.id}`)
      return `Note ${note.id} was written.`
    },
  )
  .resource('note://{id}', { subscribe: true }, ({ id }) => notes.get(id))

export type Notes = typeof server
