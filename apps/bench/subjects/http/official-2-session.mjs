// The official SDK 2 with sessions of the legacy era.
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import { build } from '../parts/official-2.mjs'
import { serveSessions } from '../parts/session-map.mjs'

serveSessions(build, NodeStreamableHTTPServerTransport)
