// Plain Hono with three ways to read the body, selected by READ: the gain of two optimizations of `mcp()` on Node.
// text: `c.req.text()`. turn: the same, after the shared turn of the event loop. incoming: after that turn, from Node's own request.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { resultOf } from '../parts/bare.mjs'
import { host, port, ready } from '../parts/listening.mjs'

const headers = { 'content-type': 'application/json' }
let turn

function nextTurn() {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined
      resolve()
    })
  })
  return turn
}

const readers = {
  text: (context) => context.req.text(),
  async turn(context) {
    await nextTurn()
    return context.req.text()
  },
  async incoming(context) {
    await nextTurn()
    const { incoming } = context.env
    return incoming.complete ? String(incoming.read()) : context.req.text()
  },
}
const read = readers[process.env.READ ?? 'text']

const app = new Hono()

app.post('/mcp', async (context) => {
  const message = JSON.parse(await read(context))
  const result = resultOf(message)
  if (result === undefined) return new Response(null, { status: 202 })
  return new Response(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }), { status: 200, headers })
})

serve({ fetch: app.fetch, port, hostname: host }, ready)
