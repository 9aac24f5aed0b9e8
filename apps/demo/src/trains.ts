/** The server that `npm start` shows. It does not depend on transports or revisions. */
import { createServer, ToolError } from '@mcpx/server'
import { z } from 'zod'

const stations = ['Bergen', 'Bodø', 'Oslo', 'Trondheim']
const Train = z.object({ id: z.string(), to: z.string(), leaves: z.string(), free: z.number().int() })
const trains = new Map(
  [
    { id: 'R41', to: 'Bergen', leaves: '08:25', free: 12 },
    { id: 'F4', to: 'Trondheim', leaves: '10:02', free: 3 },
  ].map((train) => [train.id, train]),
)
let receipts = 0

export const server = createServer({ name: 'trains', version: '1.0.0' }, { instructions: 'Search before you book.' })
  .tool(
    'search',
    {
      description: 'Finds trains to a station',
      input: z.object({ to: z.string() }),
      output: z.object({ trains: z.array(Train) }),
      annotations: { readOnlyHint: true },
    },
    ({ to }) => ({ trains: [...trains.values()].filter((train) => train.to === to) }),
  )
  .tool(
    'book',
    { description: 'Books a seat; asks the user for the row', input: z.object({ train: z.string() }) },
    async ({ train: id }, ctx) => {
      const train = trains.get(id)
      if (train === undefined) throw new ToolError(`There is no train ${id}. Search first.`)
      const schema = z.object({ row: z.number().int().min(1).max(20) })
      const seat = await ctx.elicit('seat', { message: `Which row in ${id} to ${train.to}?`, schema })
      if (seat.action !== 'accept') return 'Nothing was booked.'
      // A step runs once per call, even if the client repeats the call with the answer.
      const receipt = await ctx.step('pay', () => ++receipts)
      for (const [index, message] of ['holding the seat', 'paying', 'printing'].entries()) {
        await ctx.progress(index + 1, 3, message)
        await new Promise((resolve) => setTimeout(resolve, 150))
      }
      train.free -= 1
      server.resourceUpdated(`train://${id}`)
      return `Row ${seat.content.row} to ${train.to} at ${train.leaves}, receipt ${receipt}`
    },
  )
  .resource(
    'train://{id}',
    {
      subscribe: true,
      list: () => [...trains.values()].map(({ id, to }) => ({ uri: `train://${id}`, name: `${id} to ${to}` })),
      complete: { id: () => [...trains.keys()] },
    },
    ({ id }) => trains.get(id),
  )
  .prompt(
    'plan',
    { description: 'Plans a day', args: z.object({ to: z.string() }), complete: { to: stations } },
    ({ to }) => `Plan a day in ${to}. Search for a train first, and book it when I agree.`,
  )

export type Trains = typeof server
