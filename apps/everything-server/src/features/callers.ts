/** Tools that return the authentication of the caller, and tools that require scopes. */
import type { Server } from '@mcpx/server'

export function addCallers(server: Server): void {
  server
    .tool(
      'who_am_i',
      { description: 'Returns what the server knows about the caller' },
      (_, { auth, client, requestInfo, meta }) => ({
        subject: auth?.subject ?? 'anonymous',
        issuer: auth?.issuer,
        application: auth?.clientId,
        scopes: auth?.scopes,
        expires: auth?.expiresAt === undefined ? undefined : new Date(auth.expiresAt * 1_000).toISOString(),
        claims: Object.keys(auth?.claims ?? {}),
        client: client.info?.name,
        capabilities: client.capabilities,
        url: requestInfo?.url,
        userAgent: requestInfo?.headers.get('user-agent'),
        meta: Object.keys(meta),
      }),
    )
    .tool('admin_report', { description: 'Only for admins', scopes: ['admin'] }, () => 'All is well.')
    .resource('report://admin', { name: 'Only for admins', scopes: ['admin'] }, 'All is well.')
    .prompt('admin_report', { description: 'Only for admins', scopes: ['admin'] }, () => 'Is all well?')
}
