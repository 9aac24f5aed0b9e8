/** The parsed form of what crosses the wire: JSON-RPC 2.0 requests, notifications and responses. */

/** Names a request; echoed by its response. Numbers are safe integers. `1` and `'1'` are two ids. */
export type RequestId = string | number

/** A JSON object whose members are not known here. */
export interface JsonObject {
  [key: string]: unknown
}

export interface RequestMessage {
  jsonrpc: '2.0'
  id: RequestId
  method: string
  params?: JsonObject | undefined
}

export interface NotificationMessage {
  jsonrpc: '2.0'
  method: string
  params?: JsonObject | undefined
}

export interface ResultMessage {
  jsonrpc: '2.0'
  id: RequestId
  result: JsonObject
}

/** The error member of a response. */
export interface ErrorObject {
  code: number
  message: string
  data?: unknown
}

/** A response that says no. Its `id` is absent when the id of the refused message could not be read. */
export interface ErrorMessage {
  jsonrpc: '2.0'
  id?: RequestId | undefined
  error: ErrorObject
}

export type ResponseMessage = ResultMessage | ErrorMessage

export type Message = RequestMessage | NotificationMessage | ResponseMessage

export function isRequest(message: Message): message is RequestMessage {
  return 'method' in message && 'id' in message
}

export function isNotification(message: Message): message is NotificationMessage {
  return 'method' in message && !('id' in message)
}

export function isResponse(message: Message): message is ResponseMessage {
  return !('method' in message)
}

/** The answer that carries `result`. */
export function resultMessage(id: RequestId, result: object): ResultMessage {
  return { jsonrpc: '2.0', id, result: result as JsonObject }
}

/** The answer that carries an error; without an id when none could be read. */
export function errorMessage(id: RequestId | undefined, error: ErrorObject): ErrorMessage {
  const { code, message, data } = error
  const body = data === undefined ? { code, message } : { code, message, data }
  return id === undefined ? { jsonrpc: '2.0', error: body } : { jsonrpc: '2.0', id, error: body }
}
