/** Serves the desk over HTTP on Deno. */
import { mcp } from '@mcpx/transport-http'
import { desk } from '../desk.ts'

/** The part of Deno's types that this file uses: https://docs.deno.com/api/deno/~/Deno.serve */
declare const Deno: {
  serve(
    options: { port: number; hostname: string; onListen(address: { port: number }): void },
    fetch: (request: Request) => Response | Promise<Response>,
  ): void
}

const app = mcp(desk, { cors: true })
const onListen = ({ port }: { port: number }) => console.log(`http://127.0.0.1:${port}/mcp`)
Deno.serve({ port: 0, hostname: '127.0.0.1', onListen }, (request) => app.fetch(request))
