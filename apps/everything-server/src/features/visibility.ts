/** Items that only some callers can see. Other callers can neither list nor use them. */
import type { AuthInfo } from '@mcpx/protocol'
import type { Server } from '@mcpx/server'

const isAdmin = (auth: AuthInfo | undefined) => auth?.scopes.includes('admin')

export function addVisibility(server: Server): void {
  server
    .tool('restart', { description: 'Visible to admins only', visible: isAdmin }, () => 'Restarted.')
    .resource('config://secret', { name: 'Secret settings', visible: isAdmin }, () => ({ debug: true }))
    .prompt('incident', { description: 'How to deal with an incident', visible: isAdmin }, () => 'Stay calm.')
}
