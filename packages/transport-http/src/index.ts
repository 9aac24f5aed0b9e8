/** Serves the protocol over HTTP on any runtime. */

export { type McpApp, mcp } from './server/hono.ts'
export {
  HTTP_LIMITS,
  type HttpLimits,
  type HttpOptions,
  type SessionOptions,
  type ToolSchemas,
} from './server/options.ts'
export type { ToolSchemaSource } from './server/tool-schemas.ts'
