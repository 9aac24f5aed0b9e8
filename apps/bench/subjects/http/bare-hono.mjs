// The baseline with Hono on its server for Node.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { answer, event, eventHeaders, resultOf } from '../parts/bare.mjs'
import { asEvents, host, port, ready } from '../parts/listening.mjs'

const utf8 = new TextEncoder()
const app = new Hono()

app.post('/mcp', async (context) => {
  const message = await context.req.json()
  const result = resultOf(message)
  if (result === undefined) return context.body(null, 202)
  if (!asEvents) return context.json({ jsonrpc: '2.0', id: message.id, result })
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(utf8.encode(event(answer(message.id, result))))
      controller.close()
    },
  })
  return new Response(body, { headers: eventHeaders })
})

serve({ fetch: app.fetch, port, hostname: host }, ready)
