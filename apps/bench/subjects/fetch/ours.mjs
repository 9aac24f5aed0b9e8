// Ours, as a fetch handler.
import { mcp } from '@mcpx/transport-http'
import { build } from '../parts/ours.mjs'

const app = mcp(build())

export const handle = (request) => app.fetch(request)
