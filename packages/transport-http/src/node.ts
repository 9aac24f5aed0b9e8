/** Serves the protocol over HTTP on Node. */

export { type HttpServer, type ServeHttpOptions, serveHttp } from './node/serve-http.ts'
