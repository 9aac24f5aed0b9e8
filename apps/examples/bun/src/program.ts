/** The server as a process, on standard input and output: `bun src/program.ts`. */
import { serveStdio } from '@mcpx/transport-stdio'
import { server } from './server.ts'

await serveStdio(server)
