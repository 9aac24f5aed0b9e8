/** One server, asked by a client of each era: the same handler, written once. */
import { deepEqual, equal, match } from 'node:assert/strict'
import { connect, ToolCallError } from '@mcpx/client'
import { createServer, ToolError } from '@mcpx/server'
import { z } from 'zod'
import type { Story } from './story.ts'

let charges = 0

const server = createServer({ name: 'travel', version: '1.0.0' })
  .tool(
    'add',
    { input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }) },
    ({ a, b }) => ({ sum: a + b }),
  )
  .tool('book', { input: z.object({ to: z.string() }) }, async ({ to }, ctx) => {
    if (to === 'nowhere') throw new ToolError('There are no trains to nowhere.')
    const seat = await ctx.elicit('seat', { message: 'Which row?', schema: z.object({ row: z.number().int() }) })
    if (seat.action !== 'accept') return 'Nothing was booked.'
    const receipt = await ctx.step('charge', () => ++charges)
    return `Row ${seat.content.row} to ${to}, receipt ${receipt}`
  })
  .resource('note://{id}', {}, ({ id }) => `This is note ${id}.`)

export const serverStory: Story = {
  title: 'One server, clients of both eras (@mcpx/server, @mcpx/client)',
  async tell(say) {
    for (const era of ['legacy', 'modern'] as const) {
      const before = charges
      const client = await connect(server, {
        era,
        onElicit: async () => ({ action: 'accept', content: { row: 7 } }),
      })
      say(`a ${era} client speaks ${client.revision}`)

      deepEqual(await client.tools.add({ a: 1, b: 2 }), { sum: 3 })
      const { content } = await client.callTool('book', { to: 'Oslo' })
      const [block] = content
      match(block?.type === 'text' ? block.text : '', /^Row 7 to Oslo, receipt \d+$/)
      equal(charges, before + 1)
      say(`  add says 3; book asks the user in the middle and says: ${block?.type === 'text' ? block.text : ''}`)

      const failure = await client.tools.book({ to: 'nowhere' }).catch((error: unknown) => error)
      equal(failure instanceof ToolCallError, true)
      const wrong = await client.callTool('add', { a: 'one', b: 2 })
      equal(wrong.isError, true)
      const [reason] = wrong.content
      say(`  a wrong argument is told to the model: ${reason?.type === 'text' ? reason.text : ''}`)

      const note = await client.readResource('note://5')
      deepEqual(note.contents, [{ uri: 'note://5', mimeType: 'text/plain', text: 'This is note 5.' }])
      await client.close()
    }
  },
}
