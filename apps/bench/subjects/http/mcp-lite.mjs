// mcp-lite on Hono; the environment variable SESSIONS enables sessions.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { InMemorySessionAdapter, StreamableHttpTransport } from 'mcp-lite'
import { host, port, ready } from '../parts/listening.mjs'
import { build } from '../parts/mcp-lite.mjs'

const sessionAdapter = process.env.SESSIONS && new InMemorySessionAdapter({ maxEventBufferSize: 1024 })
const handle = new StreamableHttpTransport(sessionAdapter ? { sessionAdapter } : {}).bind(build())
const app = new Hono()
app.all('/mcp', (context) => handle(context.req.raw))

serve({ fetch: app.fetch, port, hostname: host }, ready)
