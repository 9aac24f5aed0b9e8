// Our server as a Hono app on Hono's server for Node.
import { serve } from '@hono/node-server'
import { mcp } from '@mcpx/transport-http'
import { Hono } from 'hono'
import { asEvents, host, port, ready } from '../parts/listening.mjs'
import { build } from '../parts/ours.mjs'

const app = new Hono().route('/mcp', mcp(build(), asEvents ? { responses: 'events' } : {}))

serve({ fetch: app.fetch, port, hostname: host }, ready)
