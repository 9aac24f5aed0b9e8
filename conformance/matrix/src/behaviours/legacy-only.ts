/** What went away with the handshake. */

import { createServer } from '@mcpx/server'
import { caught } from '@mcpx/testing'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { moment } from '../moment.ts'

export const legacyOnly: Behaviours = {
  async 'the server can be pinged, also while it is busy, and not when it is gone'({ connect, soon }) {
    const [started, done] = [moment(), moment()]
    const server = createServer({ name: 'ping', version: '1' }).tool('t', {}, async () => {
      started.happen()
      await done.come
      return 'x'
    })
    const client = await connect(server)
    await client.ping()
    const call = client.callTool('t')
    await soon('the call', started.come)
    expect(await client.request('ping')).toEqual({})
    done.happen()
    expect(await call).toMatchObject({ content: [{ text: 'x' }] })
    await client.close()
    expect(await caught(() => client.ping())).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
  },
}
