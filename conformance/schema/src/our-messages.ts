/** Our verdict on the definitions that describe whole messages: by the codec, the era tables and the shapes behind them. */
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
import { fits, hasEnvelope, received, receivedOne, type Verdict } from './verdict.ts'

const requestFrame = { jsonrpc: '2.0', id: 1 }
const notificationFrame = { jsonrpc: '2.0' }

/** Older definitions leave the frame of a message to other definitions. */
function frameFor(revision: Revision, frame: object): object | undefined {
  return revision < '2025-11-25' ? frame : undefined
}

/** Absent parameters are read as none. */
function request(method: string): Verdict {
  return (value, revision) => {
    const message = receivedOne(value, frameFor(revision, requestFrame))
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
    const message = receivedOne(value, frameFor(revision, notificationFrame))
    if (message === undefined || !isNotification(message) || message.method !== method) return false
    return fits(notificationParams(revision, method), message.params ?? {})
  }
}

/** A response with the result of a method, or with an unfinished one where that may be. */
function response(method: string, mayAsk = false): Verdict {
  return (value, revision) => {
    const message = receivedOne(value)
    if (message === undefined || !('result' in message)) return false
    const isAsking = mayAsk && fits(InputRequiredResult, message.result)
    return isAsking || fits(clientRequestResult(revision, method), message.result)
  }
}

function errorResponse(code: number, data?: Schema<unknown>): Verdict {
  return (value) => {
    const message = receivedOne(value)
    if (message === undefined || !('error' in message)) return false
    return message.error.code === code && (data === undefined || fits(data, message.error.data))
  }
}

/** An error object with a certain code, or with any. */
function errorObject(code?: number): Verdict {
  return (error) => {
    const message = receivedOne({ jsonrpc: '2.0', id: 1, error })
    return message !== undefined && 'error' in message && (code === undefined || message.error.code === code)
  }
}

function message(is: (message: Message) => boolean, frame?: object): Verdict {
  return (value) => {
    const one = receivedOne(value, frame)
    return one !== undefined && is(one)
  }
}

function batch(is: (message: Message) => boolean): Verdict {
  return (value) => Array.isArray(value) && (received(value)?.every(is) ?? false)
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
      : receivedOne(value) !== undefined,
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
  Notification: message(isNotification, notificationFrame),
  PaginatedRequest: (value, revision) => {
    const one = receivedOne(value, frameFor(revision, requestFrame))
    if (one === undefined || !isRequest(one)) return false
    return (
      hasEnvelope(one.params ?? {}, revision) &&
      fits(clientRequestParams(revision, 'tools/list') ?? serverRequestParams(revision, 'tools/list'), one.params ?? {})
    )
  },
  ParseError: errorObject(-32700),
  ReadResourceResultResponse: response('resources/read', true),
  Request: message(isRequest, requestFrame),
  SubscriptionsListenResultResponse: response('subscriptions/listen'),
  UnsupportedProtocolVersionError: errorResponse(
    -32022,
    z.object({ supported: z.array(z.string()), requested: z.string() }),
  ),
  URLElicitationRequiredError: errorResponse(-32042, URLElicitationRequired),
}

/** Requests that travel in an unfinished result are parts of it, not messages. */
function isPart(name: string, revision: Revision): boolean {
  return eraOf(revision) === 'modern' && ['CreateMessageRequest', 'ElicitRequest', 'ListRootsRequest'].includes(name)
}

/** The verdict on any definition but the unions of everything that a side may send. */
export function verdictOf(name: string, revision: Revision): Verdict | undefined {
  const part = verdictOfShape(name)
  if (isPart(name, revision)) return part
  if (Object.hasOwn(requestMethods, name)) return request(requestMethods[name] as string)
  if (Object.hasOwn(notificationMethods, name)) return notification(notificationMethods[name] as string)
  return Object.hasOwn(others, name) ? others[name] : part
}

/** Names of definitions that are no parts of messages. */
export const messageNames: readonly string[] = [requestMethods, notificationMethods, others].flatMap(Object.keys)
