// tmcp, as a fetch handler.
import { HttpTransport } from '@tmcp/transport-http'
import { build } from '../parts/tmcp.mjs'

const transport = new HttpTransport(build(), { path: '/mcp' })

export const handle = (request) => transport.respond(request)
