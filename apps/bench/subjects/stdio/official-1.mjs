// The official SDK 1.
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { build } from '../parts/official-1.mjs'

await build().connect(new StdioServerTransport())
