/** Features that exist only in the legacy era. */

import { createServer } from '@mcpx/server'
import { catchError } from '@mcpx/testing'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { deferred } from '../deferred.ts'

export const legacyOnly: Behaviours = {
  async 'the server answers pings until the client is closed'({ connect, waitFor }) {
    const [started, done] = [deferred(), deferred()]
    const server = createServer({ name: 'ping', version: '1' }).tool('t', {}, async () => {
      started.resolve()
      await done.promise
      return 'x'
    })
    const client = await connect(server)
    await client.ping()
    const call = client.callTool('t')
    await waitFor('the call', started.promise)
    expect(await client.request('ping')).toEqual({})
    done.resolve()
    expect(await call).toMatchObject({ content: [{ text: 'x' }] })
    await client.close()
    expect(await catchError(() => client.ping())).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
  },
}
