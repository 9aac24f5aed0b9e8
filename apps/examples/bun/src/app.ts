/** The server over HTTP: `bun src/app.ts` serves the default export of this module. */
import { mcp } from '@mcpx/transport-http'
import { server } from './server.ts'

// biome-ignore lint/style/noDefaultExport: Bun serves the default export
export default mcp(server)
