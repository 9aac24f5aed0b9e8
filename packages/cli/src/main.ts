#!/usr/bin/env node
/** The program `mcpx`: runs the command line of this process and exits with its code. */

import module from 'node:module'
import process from 'node:process'

// Node 22.1 and newer keep compiled code between runs. It must be enabled before the rest is loaded.
module.enableCompileCache?.()
const { runCommandLine } = await import('./index.ts')

// A server that was loaded from a file may have timers or sockets that keep the process alive.
process.exit(await runCommandLine(process.argv.slice(2)))
