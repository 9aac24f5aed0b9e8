/** The protocol as types, schemas and a JSON-RPC engine; it knows no carrier. */

export { checkMessage, isRequestId, kindOf } from './jsonrpc/check.ts'
export { CODEC_LIMITS, type CodecLimits, type Decoded, decode, encode, keepText } from './jsonrpc/codec.ts'
export { ConnectionError, type ConnectionErrorOptions, type ConnectionErrorReason } from './jsonrpc/connection-error.ts'
export {
  ErrorCode,
  headerMismatch,
  internalError,
  invalidParams,
  invalidRequest,
  methodNotFound,
  missingClientCapability,
  parseError,
  quoted,
  RpcError,
  type RpcErrorOptions,
  resourceNotFound,
  toRpcError,
  unsupportedVersion,
  urlElicitationRequired,
  userRejected,
} from './jsonrpc/errors.ts'
export {
  type ErrorMessage,
  type ErrorObject,
  errorMessage,
  isNotification,
  isRequest,
  isResponse,
  type JsonObject,
  type Message,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
  type ResultMessage,
  resultMessage,
} from './jsonrpc/message.ts'
export { Refusal, type RefusedKind } from './jsonrpc/refusal.ts'
export type { ValueLimits } from './jsonrpc/tame.ts'
export type { AuthInfo } from './ports/auth-info.ts'
export type { Awaitable } from './ports/awaitable.ts'
export type { Channel } from './ports/channel.ts'
export type { Exchange, RequestInfo, Responder } from './ports/exchange.ts'
export type { Requester, RequestOptions } from './ports/requester.ts'
export type { Session, SessionState } from './ports/session.ts'
export type { EventBus, EventReplay, EventStore, SessionStore, StoredEvent } from './ports/stores.ts'
export { createDuplex, DUPLEX_LIMITS, type Duplex, type DuplexLimits, type DuplexOptions } from './rpc/duplex.ts'
export {
  ASSUMED_REVISION,
  BATCH_REVISION,
  type Era,
  eraOf,
  isRevision,
  LATEST_LEGACY_REVISION,
  LATEST_MODERN_REVISION,
  REVISIONS,
  type Revision,
  revisionsOf,
} from './versions.ts'
