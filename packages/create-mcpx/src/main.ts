#!/usr/bin/env node
/** The program `create-mcpx`: runs the command line of this process. */

import process from 'node:process'
import { runCommandLine } from './index.ts'

process.exitCode = await runCommandLine(process.argv.slice(2))
