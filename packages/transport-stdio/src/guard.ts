/**
 * Guards standard output from its import on. As the first import of a server, it also redirects what other modules log
 * while they are imported. `serveStdio` takes over the guard.
 */

import { guardStdout } from './stdout-guard.ts'

guardStdout()
