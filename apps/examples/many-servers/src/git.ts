/** A server over stdio with a tool and a resource template. */
import { createServer } from '@mcpx/server'
import { serveStdio } from '@mcpx/transport-stdio'

const server = createServer({ name: 'git', version: '1.0.0' })
  .tool('log', {}, () => 'three commits')
  .resource('file://{path}', {}, ({ path }) => `the text of ${path}`)

await serveStdio(server)
