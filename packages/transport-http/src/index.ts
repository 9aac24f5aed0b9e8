/** Serves the protocol over HTTP on any runtime. */

export { type McpApp, mcp } from './server/hono.ts'
export {
  type EndpointOptions,
  HTTP_LIMITS,
  type HttpLimits,
  type SessionOptions,
  type ToolSchemas,
} from './server/options.ts'
