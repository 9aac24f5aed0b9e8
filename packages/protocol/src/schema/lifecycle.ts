/** Who speaks and what they can do: implementations, capabilities, discovery. */

import { array, boolean, object, optional, record, type Shape, string } from './define.ts'
import { cacheHints, Icon, JsonObject, named, result } from './primitives.ts'

const implementation = () => ({
  ...named(),
  version: string,
  description: optional(string),
  websiteUrl: optional(string),
  icons: optional(array(Icon)),
})
/** Names a program that speaks the protocol. */
export interface Implementation extends Shape<typeof implementation> {}
export const Implementation = /* @__PURE__ */ object<Implementation>(implementation)

/** Settings by name, each an object. */
const settings = () => ({
  experimental: optional(record(JsonObject)),
  /** By extension id, such as `io.modelcontextprotocol/ui`. */
  extensions: optional(record(JsonObject)),
})

const rootsCapability = () => ({ listChanged: optional(boolean) })
const samplingCapability = () => ({ context: optional(JsonObject), tools: optional(JsonObject) })
const elicitationCapability = () => ({ form: optional(JsonObject), url: optional(JsonObject) })

export const clientCapabilities = () => ({
  ...settings(),
  roots: optional(object<Shape<typeof rootsCapability>>(rootsCapability)),
  sampling: optional(object<Shape<typeof samplingCapability>>(samplingCapability)),
  /** An empty object means forms. */
  elicitation: optional(object<Shape<typeof elicitationCapability>>(elicitationCapability)),
})
/** What a client can be asked for. */
export interface ClientCapabilities extends Shape<typeof clientCapabilities> {}
export const ClientCapabilities = /* @__PURE__ */ object<ClientCapabilities>(clientCapabilities)

const listCapability = () => ({ listChanged: optional(boolean) })
const resourcesCapability = () => ({ ...listCapability(), subscribe: optional(boolean) })

export const serverCapabilities = () => ({
  ...settings(),
  logging: optional(JsonObject),
  completions: optional(JsonObject),
  prompts: optional(object<Shape<typeof listCapability>>(listCapability)),
  resources: optional(object<Shape<typeof resourcesCapability>>(resourcesCapability)),
  tools: optional(object<Shape<typeof listCapability>>(listCapability)),
})
/** What a server offers. */
export interface ServerCapabilities extends Shape<typeof serverCapabilities> {}
export const ServerCapabilities = /* @__PURE__ */ object<ServerCapabilities>(serverCapabilities)

const discoverResult = () => ({
  ...result(),
  ...cacheHints(),
  supportedVersions: array(string),
  capabilities: ServerCapabilities,
  /** How to make good use of the server, for the model. */
  instructions: optional(string),
})
/** What `server/discover` tells. */
export interface DiscoverResult extends Shape<typeof discoverResult> {}
export const DiscoverResult = /* @__PURE__ */ object<DiscoverResult>(discoverResult)
