/** All tested servers and clients from npm. */

import { agents } from './third-party/agents.ts'
import { aiSdk } from './third-party/ai-sdk.ts'
import { frameworks } from './third-party/frameworks.ts'
import { inspectorOverHttp, inspectorOverStdio } from './third-party/inspector.ts'
import { mcpLite } from './third-party/mcp-lite.ts'
import { mcpRemote } from './third-party/mcp-remote.ts'
import { oldSdks } from './third-party/old-sdks.ts'
import { filesystem, memory } from './third-party/reference-servers.ts'
import { everythingOverHttp, everythingOverSse, everythingOverStdio } from './third-party/server-everything.ts'
import { supergateway } from './third-party/supergateway.ts'
import type { ThirdParty } from './third-party/third-party.ts'

export const thirdParties: readonly ThirdParty[] = [
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
  ...supergateway,
  ...frameworks,
  ...agents,
  ...oldSdks,
]
