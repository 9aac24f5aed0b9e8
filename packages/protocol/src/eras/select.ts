/** The one place that knows both eras: it asks the tables and the shapes of the era that a revision belongs to. */

import type { Schema } from '../schema/define.ts'
import { type Era, eraOf, type Revision } from '../versions.ts'
import { type EraTable, lookUp, type MethodEntry, type MethodKind, type MethodTable } from './era.ts'
import { legacyCapabilities, legacyNotifications, legacyRequests, legacyTable } from './legacy.ts'
import type * as legacyMethods from './legacy-methods.ts'
import * as legacySchemas from './legacy-schemas.ts'
import * as legacyStrip from './legacy-strip.ts'
import { modernCapabilities, modernInputRequests, modernNotifications, modernRequests, modernTable } from './modern.ts'
import type * as modernMethods from './modern-methods.ts'
import * as modernSchemas from './modern-schemas.ts'

export {
  modernInputResponse,
  modernRequest,
  modernRequestParams,
  modernRequestResult,
  modernToolParams,
} from './modern-lookup.ts'
export {
  CLIENT_CAPABILITIES_KEY,
  CLIENT_INFO_KEY,
  claimsModern,
  type Envelope,
  LOG_LEVEL_KEY,
  PROTOCOL_VERSION_KEY,
  readEnvelope,
  SERVER_INFO_KEY,
  SUBSCRIPTION_ID_KEY,
  serverInfoOf,
  subscriptionIdOf,
  withEnvelope,
  withServerInfo,
  withSubscriptionId,
} from './modern-meta.ts'

/** One thing of each era that is there. */
type PerEra<T> = Partial<Readonly<Record<Era, T>>>
type Schemas = Readonly<Record<string, Schema<unknown>>>

const tables: PerEra<EraTable> = {
  legacy: legacyTable,
  modern: modernTable,
}

/** All that exists on the wire of a revision's era; `undefined` where that era is not part of the product. */
export function tableOf(revision: Revision): EraTable | undefined {
  return tables[eraOf(revision)]
}

const requests: PerEra<MethodTable> = {
  legacy: legacyRequests,
  modern: modernRequests,
}

const told: PerEra<MethodTable> = {
  legacy: legacyNotifications,
  modern: modernNotifications,
}

const inputRequests: PerEra<MethodTable> = {
  modern: modernInputRequests,
}

function entryOf(entries: PerEra<MethodTable>, revision: Revision, method: string): MethodEntry | undefined {
  return lookUp(entries[eraOf(revision)] ?? {}, method, revision)
}

/** What a revision says about a request; `undefined` means that there is no such request. */
export function requestEntry(revision: Revision, method: string): MethodEntry | undefined {
  return entryOf(requests, revision, method)
}

const ofKind: Readonly<Record<MethodKind, PerEra<MethodTable>>> = {
  request: requests,
  notification: told,
  inputRequest: inputRequests,
}

/** What a revision says about a method; `undefined` means that there is no such method. */
export function methodEntry(revision: Revision, method: string, kind: MethodKind): MethodEntry | undefined {
  return entryOf(ofKind[kind], revision, method)
}

const capabilities: PerEra<EraTable['capabilities']> = {
  legacy: legacyCapabilities,
  modern: modernCapabilities,
}

/** Whether a revision knows a capability, such as `resources.subscribe`, of one side. */
export function hasCapability(revision: Revision, side: 'client' | 'server', path: string): boolean {
  return lookUp(capabilities[eraOf(revision)]?.[side] ?? {}, path, revision) !== undefined
}

/**
 * The capability that the answering side of a request, or the sending side of a notification, must have declared; none
 * where the revision has the method but not the capability.
 */
export function capabilityFor(revision: Revision, method: string, kind: MethodKind): string | undefined {
  const { from, capability = '' }: Partial<MethodEntry> = methodEntry(revision, method, kind) ?? {}
  const isTold = kind === 'notification'
  const side = (from === 'client') === isTold ? 'client' : 'server'
  return hasCapability(revision, side, capability) ? capability : undefined
}

const clientParams: PerEra<Schemas> = {
  legacy: legacySchemas.clientParams,
  modern: modernSchemas.clientParams,
}

/** The parameters of a request by the client. Absent parameters are read as `{}`. */
export function clientRequestParams(revision: Revision, method: string): Schema<unknown> | undefined {
  return schemaFor(clientParams, revision, method)
}

const toolParams: PerEra<Schemas> = {
  legacy: legacySchemas.toolParams,
  modern: modernSchemas.toolParams,
}

/** The same, of what a server is asked that offers tools alone; nothing for all else. */
export function toolRequestParams(revision: Revision, method: string): Schema<unknown> | undefined {
  return schemaFor(toolParams, revision, method)
}

const clientResults: PerEra<Schemas> = {
  legacy: legacySchemas.clientResults,
  modern: modernSchemas.clientResults,
}

/** The complete result of a request by the client. */
export function clientRequestResult(revision: Revision, method: string): Schema<unknown> | undefined {
  return schemaFor(clientResults, revision, method)
}

const serverParams: PerEra<Schemas> = {
  legacy: legacySchemas.serverParams,
}

/** The parameters of a request by the server. */
export function serverRequestParams(revision: Revision, method: string): Schema<unknown> | undefined {
  return schemaFor(serverParams, revision, method)
}

const serverResults: PerEra<Schemas> = {
  legacy: legacySchemas.serverResults,
}

/** The result of a request by the server. */
export function serverRequestResult(revision: Revision, method: string): Schema<unknown> | undefined {
  return schemaFor(serverResults, revision, method)
}

const inputResponses: PerEra<Schemas> = {
  modern: modernSchemas.inputResponses,
}

/** The answer to a request of the server's that travels in an unfinished result. */
export function inputResponse(revision: Revision, method: string): Schema<unknown> | undefined {
  return schemaFor(inputResponses, revision, method, inputRequests)
}

/** The parameters of a request, whoever sends it. A product that needs one side only asks for that side. */
export function requestParams(revision: Revision, method: string): Schema<unknown> | undefined {
  return clientRequestParams(revision, method) ?? serverRequestParams(revision, method)
}

/** The result of a request, whoever sends it. A product that needs one side only asks for that side. */
export function requestResult(revision: Revision, method: string): Schema<unknown> | undefined {
  return clientRequestResult(revision, method) ?? serverRequestResult(revision, method)
}

const notifications: PerEra<Schemas> = {
  legacy: legacySchemas.notifications,
  modern: modernSchemas.notifications,
}

/** The parameters of a notification. Absent parameters are read as `{}`. */
export function notificationParams(revision: Revision, method: string): Schema<unknown> | undefined {
  return schemaFor(notifications, revision, method, told)
}

function schemaFor(
  schemas: PerEra<Schemas>,
  revision: Revision,
  method: string,
  entries = requests,
): Schema<unknown> | undefined {
  // What has an entry is a name of a table, and no other member of an object.
  return entryOf(entries, revision, method) && schemas[eraOf(revision)]?.[method]
}

type Strip = <T extends object>(revision: Revision, method: string, value: T) => T

const resultStrips: PerEra<Strip> = {
  legacy: legacyStrip.stripResult,
}

/** A result as a peer of that revision may see it. The same object if nothing has to go; never a changed one. */
export function stripFor<T extends object>(revision: Revision, method: string, result: T): T {
  return resultStrips[eraOf(revision)]?.(revision, method, result) ?? result
}

const paramsStrips: PerEra<Strip> = {
  legacy: legacyStrip.stripParams,
}

/** The same for the parameters of a request or a notification. */
export function stripParamsFor<T extends object>(revision: Revision, method: string, params: T): T {
  return paramsStrips[eraOf(revision)]?.(revision, method, params) ?? params
}

/** What a client may ask, in any revision: parameters and result of each method. */
export interface ClientRequests extends modernMethods.ClientRequests {}
export interface ClientRequests extends legacyMethods.ClientRequests {}

/** What a server may ask. */
export interface ServerRequests extends modernMethods.ServerRequests {}
export interface ServerRequests extends legacyMethods.ServerRequests {}

/** What a client may tell. */
export interface ClientNotifications extends modernMethods.ClientNotifications {}
export interface ClientNotifications extends legacyMethods.ClientNotifications {}

/** What a server may tell. */
export interface ServerNotifications extends modernMethods.ServerNotifications {}
export interface ServerNotifications extends legacyMethods.ServerNotifications {}
