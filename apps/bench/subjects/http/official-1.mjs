// The official SDK 1 with sessions.
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { build } from '../parts/official-1.mjs'
import { serveSessions } from '../parts/session-map.mjs'

serveSessions(build, StreamableHTTPServerTransport)
