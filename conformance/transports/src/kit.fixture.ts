/** Connectors over memory, HTTP and stdio to the server of `host.fixture.ts`, for tests of the test kit. */

import { fileURLToPath } from 'node:url'
import type { Connector } from '@mcpx/protocol'
import { memoryConnector } from '@mcpx/protocol/memory'
import type { Server } from '@mcpx/server'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { spawn } from '@mcpx/transport-stdio'
import { onTestFinished } from 'vitest'
import { compileCache, fromSource } from './hosts.fixture.ts'

const program = [...fromSource, fileURLToPath(new URL('stdio-host.fixture.ts', import.meta.url))]

/** Each function opens the connector in the current test. Over stdio, the server is a program of its own. */
export const connectors: Record<string, (server: Server) => Connector | Promise<Connector>> = {
  memory: memoryConnector,
  async http(server) {
    const { url, close } = await serveHttp(server, { port: 0 })
    onTestFinished(() => close())
    return http(url)
  },
  stdio: () => spawn(process.execPath, program, { env: compileCache, restart: { delay: 1, maxDelay: 1 } }),
}
