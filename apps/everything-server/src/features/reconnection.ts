/** A call that takes long: the connection is let go in the middle of it, and the client comes back for the answer. */
import type { Server } from '@mcpx/server'
import { pause } from './pause.ts'

export function addReconnection(server: Server): void {
  server.tool('test_reconnection', { description: 'Lets its caller go, and answers later' }, async (_, ctx) => {
    ctx.closeStream()
    await pause(100)
    return 'Reconnection test completed successfully.'
  })
}
