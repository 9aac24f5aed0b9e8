/**
 * Sends several input requests in one round and receives typed answers. Requests that the client does not support have
 * no answer.
 */
import { elicit, openUrl, roots, type Server, sample } from '@mcpx/server'
import { z } from 'zod'

export function addAsks(server: Server): void {
  server.tool('plan_trip', { description: 'Sends all its input requests at once' }, async (_, ctx) => {
    const { seat, folders, slogan, terms } = await ctx.ask({
      seat: elicit({ message: 'Which row?', schema: z.object({ row: z.number().int() }) }),
      folders: roots(),
      slogan: sample({
        messages: [{ role: 'user', content: { type: 'text', text: 'A slogan for a train ride, please.' } }],
        maxTokens: 20,
      }),
      terms: openUrl({ message: 'Please read the terms', url: 'https://example.com/terms' }),
    })
    return {
      row: seat?.action === 'accept' ? seat.content.row : undefined,
      folders: folders?.map(({ uri }) => uri),
      model: slogan?.model,
      terms: terms?.action,
    }
  })
}
