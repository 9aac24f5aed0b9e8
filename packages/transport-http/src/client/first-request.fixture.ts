/** Sends the first request of a process, and prints how long Node's own `fetch` would wait for its answer. */

import { subscribe } from 'node:diagnostics_channel'
import { stdout } from 'node:process'
import { LATEST_MODERN_REVISION } from '@mcpx/protocol'
import { http } from './http.ts'

/** As much of a request of undici as is read. Limits that nobody has set are absent. */
interface Created {
  readonly request: { readonly headersTimeout?: number; readonly bodyTimeout?: number }
}

const limits: unknown[] = []
subscribe('undici:request:create', (created) => {
  const { headersTimeout = 'default', bodyTimeout = 'default' } = (created as Created).request
  limits.push([headersTimeout, bodyTimeout])
})
const isLoaded = Symbol.for('undici.globalDispatcher.1') in globalThis
const connection = await http(process.argv[2] as string).connect({
  responder: { respond: () => undefined },
  report() {},
})
const _meta = {
  'io.modelcontextprotocol/protocolVersion': LATEST_MODERN_REVISION,
  'io.modelcontextprotocol/clientCapabilities': {},
}
await connection.request('a', { _meta })
stdout.write(JSON.stringify({ isLoaded, limits }))
await connection.close()
