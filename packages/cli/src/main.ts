#!/usr/bin/env node
/** The program `mcpx`: runs the command line of this process and exits with its code. */

import module from 'node:module'
import process from 'node:process'

// Node 22.1 and newer can cache compiled code. The cache must be enabled before other modules are loaded.
module.enableCompileCache?.()
// Do not use `await`: if the import of a server's file never ends, Node would print a warning about this line.
void import('./index.ts')
  .then(({ runCommandLine }) => runCommandLine(process.argv.slice(2)))
  // Exit explicitly, because a server from a file may have timers or sockets that keep the process running.
  .then((exitCode) => process.exit(exitCode))
