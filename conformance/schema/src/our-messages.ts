/** Our verdicts for definitions of whole messages, by the codec, the era tables and the shapes. */
import {
  ClientCapabilities,
  clientRequestParams,
  clientRequestResult,
  eraOf,
  InputRequiredResult,
  isNotification,
  isRequest,
  isResponse,
  type Message,
  notificationParams,
  type Revision,
  type Schema,
  serverRequestParams,
} from '@mcpx/protocol'
import * as z from 'zod/mini'
import { URLElicitationRequired } from '../../../packages/protocol/src/schemas/legacy.ts'
import { verdictOfShape } from './our-shapes.ts'
import { decodeMessage, decodeMessages, fits, hasEnvelope, type Verdict } from './verdict.ts'

const requestMembers = { jsonrpc: '2.0', id: 1 }
const notificationMembers = { jsonrpc: '2.0' }

/** Returns the JSON-RPC members that older definitions leave out. */
function missingMembers(revision: Revision, members: object): object | undefined {
  return revision < '2025-11-25' ? members : undefined
}

/** The verdict for requests of a method. Missing parameters count as empty. */
function request(method: string): Verdict {
  return (value, revision) => {
    const message = decodeMessage(value, missingMembers(revision, requestMembers))
    if (message === undefined || !isRequest(message) || message.method !== method) return false
    const { params = {} } = message
    return (
      hasEnvelope(params, revision) &&
      fits(clientRequestParams(revision, method) ?? serverRequestParams(revision, method), params)
    )
  }
}

function notification(method: string): Verdict {
  return (value, revision) => {
    const message = decodeMessage(value, missingMembers(revision, notificationMembers))
    if (message === undefined || !isNotification(message) || message.method !== method) return false
    return fits(notificationParams(revision, method), message.params ?? {})
  }
}

/** The verdict for responses of a method; `mayAsk` also allows an `input_required` result. */
function response(method: string, mayAsk = false): Verdict {
  return (value, revision) => {
    const message = decodeMessage(value)
    if (message === undefined || !('result' in message)) return false
    const isAsking = mayAsk && fits(InputRequiredResult, message.result)
    return isAsking || fits(clientRequestResult(revision, method), message.result)
  }
}

function errorResponse(code: number, data?: Schema<unknown>): Verdict {
  return (value) => {
    const message = decodeMessage(value)
    if (message === undefined || !('error' in message)) return false
    return message.error.code === code && (data === undefined || fits(data, message.error.data))
  }
}

/** The verdict for error objects with the given code, or with any code. */
function errorObject(code?: number): Verdict {
  return (error) => {
    const message = decodeMessage({ jsonrpc: '2.0', id: 1, error })
    return message !== undefined && 'error' in message && (code === undefined || message.error.code === code)
  }
}

function message(is: (message: Message) => boolean, members?: object): Verdict {
  return (value) => {
    const one = decodeMessage(value, members)
    return one !== undefined && is(one)
  }
}

function batch(is: (message: Message) => boolean): Verdict {
  return (value) => Array.isArray(value) && (decodeMessages(value)?.every(is) ?? false)
}

const isCall = (one: Message): boolean => isRequest(one) || isNotification(one)

const requestMethods: Record<string, string> = {
  CallToolRequest: 'tools/call',
  CancelTaskRequest: 'tasks/cancel',
  CompleteRequest: 'completion/complete',
  CreateMessageRequest: 'sampling/createMessage',
  DiscoverRequest: 'server/discover',
  ElicitRequest: 'elicitation/create',
  GetPromptRequest: 'prompts/get',
  GetTaskPayloadRequest: 'tasks/result',
  GetTaskRequest: 'tasks/get',
  InitializeRequest: 'initialize',
  ListPromptsRequest: 'prompts/list',
  ListResourceTemplatesRequest: 'resources/templates/list',
  ListResourcesRequest: 'resources/list',
  ListRootsRequest: 'roots/list',
  ListTasksRequest: 'tasks/list',
  ListToolsRequest: 'tools/list',
  PingRequest: 'ping',
  ReadResourceRequest: 'resources/read',
  SetLevelRequest: 'logging/setLevel',
  SubscribeRequest: 'resources/subscribe',
  SubscriptionsListenRequest: 'subscriptions/listen',
  UnsubscribeRequest: 'resources/unsubscribe',
}

const notificationMethods: Record<string, string> = {
  CancelledNotification: 'notifications/cancelled',
  ElicitationCompleteNotification: 'notifications/elicitation/complete',
  InitializedNotification: 'notifications/initialized',
  LoggingMessageNotification: 'notifications/message',
  ProgressNotification: 'notifications/progress',
  PromptListChangedNotification: 'notifications/prompts/list_changed',
  ResourceListChangedNotification: 'notifications/resources/list_changed',
  ResourceUpdatedNotification: 'notifications/resources/updated',
  RootsListChangedNotification: 'notifications/roots/list_changed',
  SubscriptionsAcknowledgedNotification: 'notifications/subscriptions/acknowledged',
  TaskStatusNotification: 'notifications/tasks/status',
  ToolListChangedNotification: 'notifications/tools/list_changed',
}

const others: Record<string, Verdict> = {
  CallToolResultResponse: response('tools/call', true),
  CompleteResultResponse: response('completion/complete'),
  DiscoverResultResponse: response('server/discover'),
  Error: errorObject(),
  GetPromptResultResponse: response('prompts/get', true),
  HeaderMismatchError: errorResponse(-32020),
  InternalError: errorObject(-32603),
  InvalidParamsError: errorObject(-32602),
  InvalidRequestError: errorObject(-32600),
  JSONRPCBatchRequest: batch(isCall),
  JSONRPCBatchResponse: batch(isResponse),
  JSONRPCError: message((one) => 'error' in one),
  JSONRPCErrorResponse: message((one) => 'error' in one),
  JSONRPCMessage: (value, revision) =>
    Array.isArray(value)
      ? revision === '2025-03-26' && (batch(isCall)(value, revision) || batch(isResponse)(value, revision))
      : decodeMessage(value) !== undefined,
  JSONRPCNotification: message(isNotification),
  JSONRPCRequest: message(isRequest),
  JSONRPCResponse: (value, revision) =>
    message((one) => (revision < '2025-11-25' ? 'result' in one : isResponse(one)))(value, revision),
  JSONRPCResultResponse: message((one) => 'result' in one),
  ListPromptsResultResponse: response('prompts/list'),
  ListResourceTemplatesResultResponse: response('resources/templates/list'),
  ListResourcesResultResponse: response('resources/list'),
  ListToolsResultResponse: response('tools/list'),
  MethodNotFoundError: errorObject(-32601),
  MissingRequiredClientCapabilityError: errorResponse(-32021, z.object({ requiredCapabilities: ClientCapabilities })),
  Notification: message(isNotification, notificationMembers),
  PaginatedRequest: (value, revision) => {
    const one = decodeMessage(value, missingMembers(revision, requestMembers))
    if (one === undefined || !isRequest(one)) return false
    return (
      hasEnvelope(one.params ?? {}, revision) &&
      fits(clientRequestParams(revision, 'tools/list') ?? serverRequestParams(revision, 'tools/list'), one.params ?? {})
    )
  },
  ParseError: errorObject(-32700),
  ReadResourceResultResponse: response('resources/read', true),
  Request: message(isRequest, requestMembers),
  SubscriptionsListenResultResponse: response('subscriptions/listen'),
  UnsupportedProtocolVersionError: errorResponse(
    -32022,
    z.object({ supported: z.array(z.string()), requested: z.string() }),
  ),
  URLElicitationRequiredError: errorResponse(-32042, URLElicitationRequired),
}

/** Modern input requests are parts of a result, not messages. */
function isPart(name: string, revision: Revision): boolean {
  return eraOf(revision) === 'modern' && ['CreateMessageRequest', 'ElicitRequest', 'ListRootsRequest'].includes(name)
}

/** Returns the verdict for a definition, except for the unions of all messages of a side. */
export function verdictOf(name: string, revision: Revision): Verdict | undefined {
  const part = verdictOfShape(name)
  if (isPart(name, revision)) return part
  if (Object.hasOwn(requestMethods, name)) return request(requestMethods[name] as string)
  if (Object.hasOwn(notificationMethods, name)) return notification(notificationMethods[name] as string)
  return Object.hasOwn(others, name) ? others[name] : part
}

/** The names of the definitions of complete messages. */
export const messageNames: readonly string[] = [requestMethods, notificationMethods, others].flatMap(Object.keys)
