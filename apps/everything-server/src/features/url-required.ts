/** Sends the user to a page with the error -32042. The call fails, and the client repeats it after the user has visited the
 * page. Only clients of 2025-11-25 handle this error; `ctx.openUrl` works with all revisions that support URL elicitation.
 */
import { type Server, urlElicitationRequired } from '@mcpx/server'

export function addUrlRequired(server: Server): void {
  const connected = new Set<string>()
  server.tool('read_calendar', { description: 'Needs the user to connect their calendar first' }, (_, ctx) => {
    const user = ctx.auth?.subject ?? ctx.client.info?.name ?? 'anonymous'
    if (connected.has(user)) return 'Lunch at noon.'
    const elicitationId = crypto.randomUUID()
    // A real page would record the visit. Here it is assumed.
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
