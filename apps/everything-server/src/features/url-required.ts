/**
 * Sends the user to a page by an error (-32042), in place of a question: the call ends, and the client makes it again when the
 * user has been there. Clients of 2025-11-25 know the error; `ctx.openUrl` asks clients of all revisions that have pages.
 */
import { type Server, urlElicitationRequired } from '@mcpx/server'

export function addUrlRequired(server: Server): void {
  const connected = new Set<string>()
  server.tool('read_calendar', { description: 'Needs the user to connect their calendar first' }, (_, ctx) => {
    const user = ctx.auth?.subject ?? ctx.client.info?.name ?? 'anonymous'
    if (connected.has(user)) return 'Lunch at noon.'
    const elicitationId = crypto.randomUUID()
    // The page would write this down; here, who is sent there counts as having been there.
    connected.add(user)
    throw urlElicitationRequired([
      {
        mode: 'url',
        elicitationId,
        message: 'Please connect your calendar',
        url: `https://example.com/connect?id=${elicitationId}`,
      },
    ])
  })
}
