/** Who is asking: what a guard found out decides what may be done. */
import type { Server } from '@mcpx/server'

export function addCallers(server: Server): void {
  server
    .tool('who_am_i', { description: 'What the server knows of its caller' }, (_, ctx) => ({
      subject: ctx.auth?.subject ?? 'anonymous',
      client: ctx.client.info?.name,
      capabilities: ctx.client.capabilities,
      userAgent: ctx.requestInfo?.headers.get('user-agent'),
      meta: Object.keys(ctx.meta),
    }))
    .tool('admin_report', { description: 'Only for admins', scopes: ['admin'] }, () => 'All is well.')
}
