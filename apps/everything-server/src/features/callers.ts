/** Who is asking: what a guard found out decides what exists for them. */
import type { AuthInfo } from '@mcpx/protocol'
import type { Server } from '@mcpx/server'

/** Whoever comes with the token `admin` is one; everybody else is nobody. A real guard checks more than that. */
export function authenticate(request: Request): AuthInfo | undefined {
  const isAdmin = request.headers.get('authorization') === 'Bearer admin'
  return isAdmin ? { subject: 'admin', scopes: ['admin'] } : undefined
}

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
