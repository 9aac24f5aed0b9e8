// Our server, with a tool that changes the tool list.
import { serveHttp } from '@mcpx/transport-http/node'
import { host, port, ready } from '../parts/listening.mjs'
import { build } from '../parts/ours.mjs'

const server = build()
server.tool('change', {}, () => {
  if (!server.removeTool('here-and-gone')) server.tool('here-and-gone', {}, () => 'here')
  return 'changed'
})

await serveHttp(server, { host, port })
ready()
