/** The server over stdio: `bun src/program.ts`. */
import { serveStdio } from '@mcpx/transport-stdio'
import { server } from './server.ts'

await serveStdio(server)
