/** Every server and client from npm that is tried. */

import { aiSdk } from './strangers/ai-sdk.ts'
import { inspectorOverHttp, inspectorOverStdio } from './strangers/inspector.ts'
import { mcpLite } from './strangers/mcp-lite.ts'
import { mcpRemote } from './strangers/mcp-remote.ts'
import { filesystem, memory } from './strangers/reference-servers.ts'
import { everythingOverHttp, everythingOverSse, everythingOverStdio } from './strangers/server-everything.ts'
import type { Stranger } from './strangers/stranger.ts'

export const strangers: readonly Stranger[] = [
  everythingOverStdio,
  everythingOverHttp,
  everythingOverSse,
  filesystem,
  memory,
  ...mcpLite,
  inspectorOverHttp,
  inspectorOverStdio,
  ...aiSdk,
  ...mcpRemote,
]
