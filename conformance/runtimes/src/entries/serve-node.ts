/** Serves the desk over HTTP on Node. */
import { serveHttp } from '@mcpx/transport-http/node'
import { desk } from '../desk.ts'

const { url } = await serveHttp(desk, { port: 0, cors: true })
console.log(url)
