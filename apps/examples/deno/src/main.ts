/** Serves a clock on Deno in both ways, and reads it. `npm start` */
import { strict as assert } from 'node:assert'
import { type Connector, connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { spawn } from '@mcpx/transport-stdio'
import app from './app.ts'
import type { Clock } from './server.ts'

/** What is used of Deno here; a project of its own has its types. */
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

// The program needs no network: it may read its own modules and the environment, and that is all.
await read('a pipe', spawn('deno', ['run', '--allow-read', '--allow-env', `${import.meta.dirname}/program.ts`]))
console.log('ok')

async function read(way: string, connector: Connector): Promise<void> {
  for (const era of ['modern', 'legacy'] as const) {
    await using clock = await connect<Clock>(connector, { era })
    const { iso } = await clock.tools.now({})
    assert.ok(!Number.isNaN(Date.parse(iso)))
    const heard: (string | undefined)[] = []
    await clock.callTool('countdown', { from: 3 }, { onProgress: ({ message }) => heard.push(message) })
    assert.deepEqual(heard, ['3', '2', '1'])
    console.log(`over ${way}, ${clock.revision}: it is ${iso}; heard ${heard.join(', ')}, lift off`)
  }
}
