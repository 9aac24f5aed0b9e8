/** Our verdicts for definitions of parts of messages, by the shape of the same name with some exceptions. */
import * as protocol from '@mcpx/protocol'
import { clientRequestResult, eraOf, readEnvelope, type Schema, subscriptionIdOf } from '@mcpx/protocol'
import * as z from 'zod/mini'
import * as legacy from '../../../packages/protocol/src/schemas/legacy.ts'
import { BaseMetadata, PaginatedResult, RequestId } from '../../../packages/protocol/src/schemas/shared.ts'
import { fits, hasEnvelope, params, shape, type Verdict } from './verdict.ts'

const { Annotations, Icon, MetaObject, Result } = protocol

/** The verdict of the legacy shape in the legacy era, and of the modern shape in the modern era. */
function perEra(ofLegacy: Schema<unknown>, ofModern: Schema<unknown>): Verdict {
  return (value, revision) => fits(eraOf(revision) === 'legacy' ? ofLegacy : ofModern, value)
}

/** The verdict of the era table's shape for the result of a method. */
function result(method: string): Verdict {
  return (value, revision) => fits(clientRequestResult(revision, method), value)
}

/** Combines two verdicts, which must agree. */
function both(one: Verdict, other: Verdict): Verdict {
  return (value, revision) => {
    const verdict = one(value, revision)
    if (verdict !== other(value, revision)) throw new Error(`expected equal verdicts for ${JSON.stringify(value)}`)
    return verdict
  }
}

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const INFO = 'io.modelcontextprotocol/clientInfo'

/** The verdict of `readEnvelope` for one member. */
function inEnvelope(key: string): Verdict {
  const meta = { [VERSION]: protocol.LATEST_MODERN_REVISION, [CAPABILITIES]: {} }
  return (value) => typeof readEnvelope({ _meta: { ...meta, [key]: value } }) !== 'string'
}

const exceptions: Record<string, Verdict> = {
  Annotated: shape(z.object({ annotations: z.optional(Annotations) })),
  BaseMetadata: shape(BaseMetadata),
  CallToolRequestParams: params('tools/call'),
  CancelTaskResult: shape(legacy.TaskResult),
  ClientCapabilities: both(perEra(legacy.LegacyClientCapabilities, protocol.ClientCapabilities), (value, revision) =>
    eraOf(revision) === 'legacy'
      ? fits(legacy.LegacyClientCapabilities, value)
      : inEnvelope(CAPABILITIES)(value, revision),
  ),
  CompleteRequestParams: params('completion/complete'),
  CreateMessageRequestParams: (value, revision) =>
    eraOf(revision) === 'legacy'
      ? params('sampling/createMessage')(value, revision)
      : fits(protocol.CreateMessageRequestParams, value),
  Cursor: shape(protocol.Cursor),
  ElicitRequestFormParams: perEra(legacy.LegacyElicitRequestFormParams, protocol.ElicitRequestFormParams),
  ElicitRequestParams: perEra(legacy.LegacyElicitRequestParams, protocol.ElicitRequestParams),
  ElicitRequestURLParams: perEra(legacy.LegacyElicitRequestURLParams, protocol.ElicitRequestURLParams),
  EmptyResult: shape(Result),
  EnumSchema: (value, revision) =>
    fits(revision < '2025-11-25' ? protocol.LegacyTitledEnumSchema : protocol.EnumSchema, value),
  GetPromptRequestParams: params('prompts/get'),
  GetTaskPayloadResult: result('tasks/result'),
  GetTaskResult: shape(legacy.TaskResult),
  Icons: shape(z.object({ icons: z.optional(z.array(Icon)) })),
  Implementation: both(shape(protocol.Implementation), inEnvelope(INFO)),
  InitializeRequestParams: params('initialize'),
  InputResponseRequestParams: (value, revision) =>
    hasEnvelope(value, revision) && fits(z.extend(protocol.RequestParams, protocol.InputResponseParams.shape), value),
  JSONArray: (value) => Array.isArray(value),
  JSONObject: shape(MetaObject),
  JSONValue: () => true,
  ListToolsResult: result('tools/list'),
  MetaObject: shape(MetaObject),
  MultiSelectEnumSchema: (value) =>
    fits(protocol.UntitledMultiSelectEnumSchema, value) || fits(protocol.TitledMultiSelectEnumSchema, value),
  NotificationMetaObject: shape(MetaObject),
  NotificationParams: shape(protocol.NotificationParams),
  PaginatedRequestParams: params('tools/list'),
  PaginatedResult: shape(PaginatedResult),
  ReadResourceRequestParams: params('resources/read'),
  RelatedTaskMetadata: shape(z.object({ taskId: z.string() })),
  RequestId: shape(RequestId),
  RequestMetaObject: (value, revision) =>
    hasEnvelope({ _meta: value }, revision) && fits(protocol.RequestMetaObject, value),
  RequestParams: (value, revision) =>
    params(eraOf(revision) === 'legacy' ? 'ping' : 'server/discover')(value, revision),
  ResourceContents: shape(
    z.object({ uri: z.string(), mimeType: z.optional(z.string()), _meta: z.optional(MetaObject) }),
  ),
  ResourceReference: shape(protocol.ResourceTemplateReference),
  ResourceRequestParams: (value, revision) =>
    hasEnvelope(value, revision) && fits(protocol.ResourceRequestParams, value),
  ResultMetaObject: shape(MetaObject),
  ResultType: shape(z.string()),
  ServerCapabilities: perEra(legacy.LegacyServerCapabilities, protocol.ServerCapabilities),
  SetLevelRequestParams: params('logging/setLevel'),
  SingleSelectEnumSchema: (value) =>
    fits(protocol.UntitledSingleSelectEnumSchema, value) || fits(protocol.TitledSingleSelectEnumSchema, value),
  SubscribeRequestParams: params('resources/subscribe'),
  SubscriptionsListenRequestParams: params('subscriptions/listen'),
  SubscriptionsListenResultMetaObject: (value) => subscriptionIdOf({ _meta: value }) !== undefined,
  TaskAugmentedRequestParams: shape(legacy.TaskAugmentedRequestParams),
  Tool: perEra(legacy.LegacyTool, protocol.Tool),
  UnsubscribeRequestParams: params('resources/unsubscribe'),
}

/** Returns the verdict for a part of a message; undefined for other definitions. */
export function verdictOfShape(name: string): Verdict | undefined {
  if (Object.hasOwn(exceptions, name)) return exceptions[name]
  const schema = { ...protocol, ...legacy }[name as 'Tool'] as unknown
  return typeof schema === 'object' ? shape(schema as Schema<unknown>) : undefined
}

/** The names of the definitions with exceptions. */
export const exceptionalShapes: readonly string[] = Object.keys(exceptions)
