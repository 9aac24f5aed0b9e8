/** The shapes that only the legacy wire has: the handshake, log levels, resource subscriptions, ends of elicitations. */

import { array, object, optional, type Shape, string, union } from '../schema/define.ts'
import { elicitRequestFormParams, elicitRequestURLParams } from '../schema/elicitation.ts'
import { clientCapabilities, Implementation, serverCapabilities } from '../schema/lifecycle.ts'
import { LoggingLevel } from '../schema/logging.ts'
import { notificationParams, requestParams, result } from '../schema/primitives.ts'
import { createMessageRequestParams } from '../schema/sampling.ts'
import { callToolRequestParams } from '../schema/tools.ts'
import { ClientTasksCapability, LegacyTool, ServerTasksCapability, taskAugmented } from './legacy-tasks.ts'

const legacyClientCapabilities = () => ({ ...clientCapabilities(), tasks: optional(ClientTasksCapability) })
/** What a client can be asked for. */
export interface LegacyClientCapabilities extends Shape<typeof legacyClientCapabilities> {}
export const LegacyClientCapabilities = /* @__PURE__ */ object<LegacyClientCapabilities>(legacyClientCapabilities)

const legacyServerCapabilities = () => ({ ...serverCapabilities(), tasks: optional(ServerTasksCapability) })
/** What a server offers. */
export interface LegacyServerCapabilities extends Shape<typeof legacyServerCapabilities> {}
export const LegacyServerCapabilities = /* @__PURE__ */ object<LegacyServerCapabilities>(legacyServerCapabilities)

const initializeRequestParams = () => ({
  ...requestParams(),
  /** The revision the client would like best. */
  protocolVersion: string,
  capabilities: LegacyClientCapabilities,
  clientInfo: Implementation,
})
/** Parameters of `initialize`. */
export interface InitializeRequestParams extends Shape<typeof initializeRequestParams> {}
export const InitializeRequestParams = /* @__PURE__ */ object<InitializeRequestParams>(initializeRequestParams)

const initializeResult = () => ({
  ...result(),
  /** The revision that will be spoken; a client that cannot must disconnect. */
  protocolVersion: string,
  capabilities: LegacyServerCapabilities,
  serverInfo: Implementation,
  /** How to make good use of the server, for the model. */
  instructions: optional(string),
})
/** The server's half of the handshake. */
export interface InitializeResult extends Shape<typeof initializeResult> {}
export const InitializeResult = /* @__PURE__ */ object<InitializeResult>(initializeResult)

const setLevelRequestParams = () => ({ ...requestParams(), level: LoggingLevel })
/** Parameters of `logging/setLevel`. */
export interface SetLevelRequestParams extends Shape<typeof setLevelRequestParams> {}
export const SetLevelRequestParams = /* @__PURE__ */ object<SetLevelRequestParams>(setLevelRequestParams)

const elicitationCompleteNotificationParams = () => ({ ...notificationParams(), elicitationId: string })
/** Parameters of `notifications/elicitation/complete`. */
export interface ElicitationCompleteNotificationParams extends Shape<typeof elicitationCompleteNotificationParams> {}
export const ElicitationCompleteNotificationParams = /* @__PURE__ */ object<ElicitationCompleteNotificationParams>(
  elicitationCompleteNotificationParams,
)

const legacyElicitRequestURLParams = () => ({
  ...elicitRequestURLParams(),
  ...taskAugmented(),
  /** Comes back when what happens at the URL is done. */
  elicitationId: string,
})
/** Asks the user to visit a URL. */
export interface LegacyElicitRequestURLParams extends Shape<typeof legacyElicitRequestURLParams> {}
export const LegacyElicitRequestURLParams =
  /* @__PURE__ */ object<LegacyElicitRequestURLParams>(legacyElicitRequestURLParams)

const legacyElicitRequestFormParams = () => ({ ...elicitRequestFormParams(), ...taskAugmented() })
/** Asks the user to fill in a form. */
export interface LegacyElicitRequestFormParams extends Shape<typeof legacyElicitRequestFormParams> {}
export const LegacyElicitRequestFormParams =
  /* @__PURE__ */ object<LegacyElicitRequestFormParams>(legacyElicitRequestFormParams)

/** Parameters of `elicitation/create`; `mode` tells which. */
export type LegacyElicitRequestParams = LegacyElicitRequestFormParams | LegacyElicitRequestURLParams
export const LegacyElicitRequestParams = /* @__PURE__ */ union([
  LegacyElicitRequestFormParams,
  LegacyElicitRequestURLParams,
])

const legacyCallToolRequestParams = () => ({ ...callToolRequestParams(), ...taskAugmented() })
/** Parameters of `tools/call`. */
export interface LegacyCallToolRequestParams extends Shape<typeof legacyCallToolRequestParams> {}
export const LegacyCallToolRequestParams =
  /* @__PURE__ */ object<LegacyCallToolRequestParams>(legacyCallToolRequestParams)

const legacyCreateMessageRequestParams = () => ({
  ...createMessageRequestParams(),
  ...taskAugmented(),
  tools: optional(array(LegacyTool)),
})
/** Parameters of `sampling/createMessage`. */
export interface LegacyCreateMessageRequestParams extends Shape<typeof legacyCreateMessageRequestParams> {}
export const LegacyCreateMessageRequestParams = /* @__PURE__ */ object<LegacyCreateMessageRequestParams>(
  legacyCreateMessageRequestParams,
)

const urlElicitationRequired = () => ({ elicitations: array(LegacyElicitRequestURLParams) })
/** The data of the error that sends the user to URLs before a request can work. */
export interface URLElicitationRequired extends Shape<typeof urlElicitationRequired> {}
export const URLElicitationRequired = /* @__PURE__ */ object<URLElicitationRequired>(urlElicitationRequired)
