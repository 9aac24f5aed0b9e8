// Our server with a zod tool.
import { serveStdio } from '@mcpx/transport-stdio'
import { build } from '../parts/ours.mjs'

await serveStdio(build())
