// tmcp.
import { StdioTransport } from '@tmcp/transport-stdio'
import { build } from '../parts/tmcp.mjs'

new StdioTransport(build()).listen()
