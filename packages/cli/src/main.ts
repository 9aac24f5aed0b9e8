#!/usr/bin/env node
/** The program `mcpx`: runs the command line of this process and exits with its code. */

import module from 'node:module'
import process from 'node:process'

// Node 22.1 and newer keep compiled code between runs. It must be enabled before the rest is loaded.
module.enableCompileCache?.()
// Not `await`: Node would print a warning about this line if the file of a server never finishes its import.
void import('./index.ts')
  .then(({ runCommandLine }) => runCommandLine(process.argv.slice(2)))
  // A server that was loaded from a file may have timers or sockets that keep the process alive.
  .then((exitCode) => process.exit(exitCode))
