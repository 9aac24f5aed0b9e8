/** What went away with the handshake. */

import { createServer } from '@mcpx/server'
import type { Behaviours } from '../behaviour.ts'

export const legacyOnly: Behaviours = {
  async 'the server can be pinged'({ connect }) {
    await (await connect(createServer({ name: 'ping', version: '1' }).tool('t', {}, () => 'x'))).ping()
  },
}
