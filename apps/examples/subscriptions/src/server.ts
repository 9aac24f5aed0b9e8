/** A server whose resources and tools change while it runs. */
import { createServer } from '@mcpx/server'
import { z } from 'zod'

const scores = new Map([['final', { home: 0, away: 0 }]])

export const server = createServer({ name: 'scores', version: '1.0.0' })
  .resource('match://{id}', { subscribe: true, mimeType: 'application/json' }, ({ id }) => scores.get(id))
  .tool('goal', { input: z.object({ id: z.string(), by: z.enum(['home', 'away']) }) }, ({ id, by }) => {
    const score = scores.get(id)
    if (score !== undefined) score[by] += 1
    // Notifies the clients that subscribed to this URI.
    server.resourceUpdated(`match://${id}`)
    return 'Goal!'
  })

/** Registers a tool at run time; clients that listen for list changes are notified. */
export function openBets(): void {
  server.tool('bet', { input: z.object({ id: z.string() }) }, ({ id }) => `Your bet on ${id} is placed.`)
}

export function closeBets(): void {
  server.removeTool('bet')
}
