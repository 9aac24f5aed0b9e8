/** Serves the desk over stdio. */
import { serveStdio } from '@mcpx/transport-stdio'
import { desk } from '../desk.ts'

await serveStdio(desk)
