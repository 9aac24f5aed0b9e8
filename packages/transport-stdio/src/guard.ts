/**
 * Guards standard output when it is imported. As the first import of a server, it also redirects output of modules that
 * log while they are imported. `serveStdio` continues to use this guard.
 */

import { guardStdout } from './stdout-guard.ts'

guardStdout()
