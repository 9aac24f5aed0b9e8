/** The server over HTTP: `bun src/app.ts` serves what a module exports by default. */
import { mcp } from '@mcpx/transport-http'
import { server } from './server.ts'

// biome-ignore lint/style/noDefaultExport: Bun serves the default export
export default mcp(server)
