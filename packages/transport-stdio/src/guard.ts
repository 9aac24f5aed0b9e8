/**
 * Guards standard output as soon as it is imported. Import it first, so that it also redirects the output of modules
 * that log while they are imported. `serveStdio` uses this guard later.
 */

import { guardStdout } from './stdout-guard.ts'

guardStdout()
