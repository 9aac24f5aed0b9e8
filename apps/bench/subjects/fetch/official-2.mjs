// The official SDK 2, as a fetch handler.
import { createMcpHandler } from '@modelcontextprotocol/server'
import { build } from '../parts/official-2.mjs'

const handler = createMcpHandler(build)

export const handle = (request) => handler.fetch(request)
