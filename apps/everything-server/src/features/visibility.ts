/** What is not there at all for those who may not see it: neither in lists nor when it is asked for. */
import type { AuthInfo } from '@mcpx/protocol'
import type { Server } from '@mcpx/server'

const isAdmin = (auth: AuthInfo | undefined) => auth?.scopes.includes('admin')

export function addVisibility(server: Server): void {
  server
    .tool('restart', { description: 'Only admins know of it', visible: isAdmin }, () => 'Restarted, or so they say.')
    .resource('config://secret', { name: 'Secret settings', visible: isAdmin }, () => ({ debug: true }))
    .prompt('incident', { description: 'How to deal with an incident', visible: isAdmin }, () => 'Stay calm.')
}
