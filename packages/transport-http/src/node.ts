/** Serves MCP over HTTP on Node. */

export { type HttpServer, type ServeHttpOptions, serveHttp } from './node/serve-http.ts'
export { type NodeHandler, type NodeRequest, type NodeResponse, toNodeHandler } from './node/to-node-handler.ts'
