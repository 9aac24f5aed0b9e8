#!/usr/bin/env node
import { serveStdio } from '@mcpx/transport-stdio'
import { server } from './server.ts'

// Keep this last: the process exits when the host disconnects. Log with console.error; standard output belongs to the protocol.
await serveStdio(server)
