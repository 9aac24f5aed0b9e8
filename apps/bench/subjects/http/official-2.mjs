// The official SDK 2 with its own handler, which serves the modern era.
import { createServer } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { asEvents, host, port, ready } from '../parts/listening.mjs'
import { build } from '../parts/official-2.mjs'

const handle = toNodeHandler(createMcpHandler(build, asEvents ? { responseMode: 'sse' } : {}))

createServer((request, response) => void handle(request, response)).listen(port, host, ready)
