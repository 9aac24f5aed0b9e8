/** Serves the desk over HTTP on Bun. */
import { mcp } from '@mcpx/transport-http'
import { desk } from '../desk.ts'

/** The part of Bun's types that this file uses: https://bun.sh/docs/api/http */
declare const Bun: {
  serve(options: {
    port: number
    hostname: string
    idleTimeout: number
    fetch(request: Request): Response | Promise<Response>
  }): { readonly url: URL }
}

const app = mcp(desk, { cors: true })
const { url } = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 60, fetch: (request) => app.fetch(request) })
console.log(new URL('/mcp', url).href)
