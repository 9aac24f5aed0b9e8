/** A long call that closes its SSE stream; the client reconnects for the answer. */
import type { Server } from '@mcpx/server'
import { pause } from './pause.ts'

export function addReconnection(server: Server): void {
  server.tool('test_reconnection', { description: 'Closes its stream and answers later' }, async (_, ctx) => {
    ctx.closeStream()
    await pause(100)
    return 'Reconnection test completed successfully.'
  })
}
