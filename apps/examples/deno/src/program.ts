/** The server over stdio: `deno run --allow-read --allow-env src/program.ts`. */
import { serveStdio } from '@mcpx/transport-stdio'
import { server } from './server.ts'

await serveStdio(server)
