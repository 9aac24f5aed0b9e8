// Ours, with a tool of zod.
import { serveStdio } from '@mcpx/transport-stdio'
import { build } from '../parts/ours.mjs'

await serveStdio(build())
