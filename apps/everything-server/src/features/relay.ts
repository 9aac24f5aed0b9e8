/** Another server behind this one: a client is connected to it, and all it offers is passed on under a prefix. */
import { connect, proxy } from '@mcpx/client'
import { createServer, type Server } from '@mcpx/server'
import { z } from 'zod'

/** In this process; anything that `connect` can reach would do. */
const clock = createServer({ name: 'clock', version: '1.0.0' }).tool(
  'now',
  { description: 'The time', output: z.object({ iso: z.string() }), annotations: { readOnlyHint: true } },
  () => ({ iso: new Date().toISOString() }),
)

export async function mountRelay(server: Server): Promise<void> {
  server.mount('clock', proxy(await connect(clock)))
}
