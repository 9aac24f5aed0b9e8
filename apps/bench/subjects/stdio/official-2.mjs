// The official SDK 2, which serves both eras.
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { build } from '../parts/official-2.mjs'

serveStdio(build)
