/** Mounts a proxy of another server under a prefix. */
import { connect, proxy } from '@mcpx/client'
import { createServer, type Server } from '@mcpx/server'
import { z } from 'zod'

/** The proxied server. It runs in this process; any other server that `connect` supports works too. */
const clock = createServer({ name: 'clock', version: '1.0.0' }).tool(
  'now',
  { description: 'The time', output: z.object({ iso: z.string() }), annotations: { readOnlyHint: true } },
  () => ({ iso: new Date().toISOString() }),
)

export async function mountRelay(server: Server): Promise<void> {
  server.mount('clock', proxy(await connect(clock)))
}
