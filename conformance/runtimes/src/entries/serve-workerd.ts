/** Serves the desk over HTTP on workerd. */
import { mcp } from '@mcpx/transport-http'
import { desk } from '../desk.ts'

// biome-ignore lint/style/noDefaultExport: workerd reads a worker's handlers from its default export
export default mcp(desk, { cors: true })
