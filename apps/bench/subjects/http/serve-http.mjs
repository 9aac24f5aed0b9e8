// Our server with serveHttp.
import { serveHttp } from '@mcpx/transport-http/node'
import { asEvents, host, port, ready } from '../parts/listening.mjs'
import { build } from '../parts/ours.mjs'

await serveHttp(build(), { host, port, ...(asEvents && { responses: 'events' }) })
ready()
