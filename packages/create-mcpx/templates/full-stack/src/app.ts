import { mcp } from '@mcpx/transport-http'
import { Hono } from 'hono'
import { createTodoServer } from './server.ts'

/** The hosts that clients may call: this machine, and the hosts in the variable ALLOWED_HOSTS, separated by commas. */
const allowedHosts = ['localhost', '127.0.0.1', ...(process.env.ALLOWED_HOSTS?.split(',') ?? [])]

export function createApp(server = createTodoServer()) {
  return new Hono().route('/mcp', mcp(server, { allowedHosts }))
}
