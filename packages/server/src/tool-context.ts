/** What a tool may know and do that asks the client nothing. */

import type { Context } from '@mcpx/protocol'

/** What it takes to ask, and what there is to know where something was asked. */
type Asking = 'elicit' | 'openUrl' | 'sample' | 'roots' | 'ask' | 'step' | 'inputResponses' | 'requestState'

/** The context, without what asks the client: that of tools of a server that offers nothing but tools. */
export interface ToolContext extends Omit<Context, Asking> {}
