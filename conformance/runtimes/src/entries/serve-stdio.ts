/** Serves the desk on standard input and output. */
import { serveStdio } from '@mcpx/transport-stdio'
import { desk } from '../desk.ts'

await serveStdio(desk)
