/** The version of this package. */

import { createRequire } from 'node:module'

const { version } = createRequire(import.meta.url)('@mcpx/cli/package.json') as { version: string }

/** The version in package.json. */
export const VERSION: string = version
