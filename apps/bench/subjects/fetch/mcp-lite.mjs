// mcp-lite, as a fetch handler.
import { StreamableHttpTransport } from 'mcp-lite'
import { build } from '../parts/mcp-lite.mjs'

export const handle = new StreamableHttpTransport().bind(build())
