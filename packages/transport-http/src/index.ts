/** Serves MCP over HTTP on any runtime. */

export { type McpApp, mcp } from './server/app.ts'
export {
  type EndpointOptions,
  HTTP_LIMITS,
  type HttpLimits,
  type SessionOptions,
  type ToolSchemas,
} from './server/options.ts'
