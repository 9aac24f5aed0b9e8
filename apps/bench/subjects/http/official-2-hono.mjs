// The official SDK 2 with its own handler and its adapter for Hono.
import { serve } from '@hono/node-server'
import { createMcpHonoApp } from '@modelcontextprotocol/hono'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { host, port, ready } from '../parts/listening.mjs'
import { build } from '../parts/official-2.mjs'

const handler = createMcpHandler(build)
const app = createMcpHonoApp()
app.all('/mcp', (context) => handler.fetch(context.req.raw, { parsedBody: context.get('parsedBody') }))

serve({ fetch: app.fetch, port, hostname: host }, ready)
