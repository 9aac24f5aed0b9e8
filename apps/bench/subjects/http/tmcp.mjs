// tmcp on Hono's server for Node. It always responds with SSE.
import { serve } from '@hono/node-server'
import { HttpTransport } from '@tmcp/transport-http'
import { host, port, ready } from '../parts/listening.mjs'
import { build } from '../parts/tmcp.mjs'

const transport = new HttpTransport(build(), { path: '/mcp' })
const fetch = async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 })

serve({ fetch, port, hostname: host }, ready)
