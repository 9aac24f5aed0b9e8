/** Serves a clock on Deno over HTTP and over stdio, and calls its tools. `npm start` */
import { strict as assert } from 'node:assert'
import { type Connector, connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { spawn } from '@mcpx/transport-stdio'
import app from './app.ts'
import type { Clock } from './server.ts'

/** The part of Deno's types that this file uses. */
declare const Deno: {
  serve(
    options: { port: number; hostname: string; onListen(): void },
    fetch: (request: Request) => Response | Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> }
}

const served = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, (request) => app.fetch(request))
await read('HTTP', http(`http://127.0.0.1:${served.addr.port}/mcp`))
app.close()
await served.shutdown()

// The program needs no network access, only permission to read its modules and the environment.
await read('stdio', spawn('deno', ['run', '--allow-read', '--allow-env', `${import.meta.dirname}/program.ts`]))
console.log('ok')

async function read(transport: string, connector: Connector): Promise<void> {
  for (const era of ['modern', 'legacy'] as const) {
    await using clock = await connect<Clock>(connector, { era })
    const { iso } = await clock.tools.now({})
    assert.ok(!Number.isNaN(Date.parse(iso)))
    const messages: (string | undefined)[] = []
    await clock.callTool('countdown', { from: 3 }, { onProgress: ({ message }) => messages.push(message) })
    assert.deepEqual(messages, ['3', '2', '1'])
    console.log(`${transport}, ${clock.revision}: it is ${iso}; countdown: ${messages.join(', ')}`)
  }
}
