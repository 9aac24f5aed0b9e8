/** All behaviours of the matrix. */

import type { Behaviours } from './behaviour.ts'
import { callers } from './behaviours/callers.ts'
import { callingTools } from './behaviours/calling-tools.ts'
import { changes } from './behaviours/changes.ts'
import { content } from './behaviours/content.ts'
import { flow } from './behaviours/flow.ts'
import { forms } from './behaviours/forms.ts'
import { handWrittenServers } from './behaviours/hand-written-servers.ts'
import { inputRequests } from './behaviours/input-requests.ts'
import { inputRequestsThroughProxies } from './behaviours/input-requests-through-proxies.ts'
import { legacyOnly } from './behaviours/legacy-only.ts'
import { middleware } from './behaviours/middleware.ts'
import { mounting } from './behaviours/mounting.ts'
import { pages } from './behaviours/pages.ts'
import { passingOn } from './behaviours/passing-on.ts'
import { promptBehaviours } from './behaviours/prompts.ts'
import { reconnecting } from './behaviours/reconnecting.ts'
import { resources } from './behaviours/resources.ts'
import { sealedState } from './behaviours/sealed-state.ts'
import { sharedProxies } from './behaviours/shared-proxies.ts'
import { structuredOutput } from './behaviours/structured-output.ts'

export const behaviours: Behaviours = {
  ...callingTools,
  ...structuredOutput,
  ...content,
  ...pages,
  ...resources,
  ...promptBehaviours,
  ...flow,
  ...forms,
  ...inputRequests,
  ...changes,
  ...middleware,
  ...callers,
  ...passingOn,
  ...inputRequestsThroughProxies,
  ...handWrittenServers,
  ...sealedState,
  ...reconnecting,
  ...sharedProxies,
  ...mounting,
  ...legacyOnly,
}
