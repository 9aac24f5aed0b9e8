/** The messages between the process of `mcpx inspect` and its page: requests of the page, and events for it. */

import type {
  CallToolResult,
  Change,
  Era,
  JsonObject,
  LoggingLevel,
  Prompt,
  Resource,
  ResourceTemplate,
  ServerFacts,
  Tool,
} from '@mcpx/client'
import type { CompleteRequestParams, CompleteResult, GetPromptResult, ReadResourceResult, Root } from '@mcpx/protocol'

/** The server as the user wrote it, for the function "copy as code". */
export type ServerSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'command'; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: 'file' | 'name'; readonly word: string }
  | { readonly kind: 'stdin' }

/** An error with its meaning and a remedy. */
export interface ExplainedError {
  /** The kind of the error in a few words, such as "Invalid parameters". */
  readonly title: string
  /** The JSON-RPC code, the HTTP status, or the reason of a failed connection. */
  readonly code?: number | string | undefined
  readonly message: string
  /** The meaning of the code, as one sentence. */
  readonly meaning?: string | undefined
  /** The remedy, as one sentence. */
  readonly remedy?: string | undefined
  /** The `data` of the JSON-RPC error. */
  readonly data?: unknown
}

/** The state of the connection to the server. */
export type ConnectionState =
  | { readonly status: 'connecting' }
  | { readonly status: 'failed'; readonly error: ExplainedError }
  | {
      readonly status: 'connected'
      readonly era: Era
      readonly revision: string
      readonly server: ServerFacts
      /** How long it took to connect, in ms. */
      readonly duration: number
    }

/** A message of the connection, or an event such as the end of the connection. */
export interface LoggedMessage {
  /** The number of the message, beginning with 1. */
  readonly number: number
  /** When it was sent or received, in ms since 1970. */
  readonly time: number
  /** `out`: sent to the server. `none`: an event of the connection. */
  readonly direction: 'in' | 'out' | 'none'
  readonly kind: 'request' | 'response' | 'error' | 'notification' | 'invalid' | 'event'
  /**
   * The method of a request or notification, the method of the request that a response belongs to, or the text of an
   * event.
   */
  readonly title: string
  /** The name of the tool or the prompt, the URI of the resource, or the text of a log message. */
  readonly detail?: string | undefined
  /** The JSON-RPC id. */
  readonly id?: string | number | undefined
  /** The time between a request and its response, in ms. */
  readonly duration?: number | undefined
  /** The number of characters as JSON. */
  readonly size: number
  /** The message. Long messages are left out, and the page requests them. */
  readonly body?: unknown
}

/** An input request of the server that waits for an answer: a form, a URL, or a message that a model should write. */
export type Question = { readonly id: string; readonly server: string } & (
  | { readonly kind: 'form'; readonly message: string; readonly schema: JsonObject }
  | { readonly kind: 'url'; readonly message: string; readonly url: string }
  | { readonly kind: 'sampling'; readonly params: JsonObject }
)

/** The answer to a question. `content` contains the values of a form, or the message of the model. */
export interface Answer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: JsonObject | undefined
}

/** A list of the server. */
export interface Items<Item> {
  readonly items: readonly Item[]
  /** Whether the server has more items than were read. */
  readonly isCut: boolean
}

/** The view of a tool. The process serves it on another origin. */
export interface ServedView {
  /** The address of the document for the frame. */
  readonly url: string
  /** The `allow` attribute of the frame. */
  readonly allow: string
  readonly prefersBorder: boolean
}

/** The methods that the page calls, with their parameters and results. */
export interface Methods {
  connect: { params: { readonly era?: string | undefined }; result: null }
  listTools: { params: object; result: Items<Tool> }
  listResources: { params: object; result: Items<Resource> }
  listResourceTemplates: { params: object; result: Items<ResourceTemplate> }
  listPrompts: { params: object; result: Items<Prompt> }
  callTool: { params: { readonly name: string; readonly args: JsonObject }; result: CallToolResult }
  readResource: { params: { readonly uri: string }; result: ReadResourceResult }
  getPrompt: {
    params: { readonly name: string; readonly args: Record<string, string> }
    result: GetPromptResult
  }
  complete: { params: Omit<CompleteRequestParams, '_meta'>; result: CompleteResult }
  subscribe: { params: { readonly uri: string }; result: null }
  unsubscribe: { params: { readonly uri: string }; result: null }
  setLogLevel: { params: { readonly level: LoggingLevel }; result: null }
  setRoots: { params: { readonly roots: readonly Root[] }; result: null }
  ping: { params: object; result: null }
  openView: { params: { readonly tool: Tool }; result: ServedView }
  answer: { params: { readonly question: string; readonly answer: Answer }; result: null }
  cancel: { params: { readonly call: string }; result: null }
  clearLog: { params: object; result: null }
}

/** A call of the page. Its result follows as an event. */
export interface PageCall {
  /** The id of the call, chosen by the page. */
  readonly id: string
  readonly method: keyof Methods
  readonly params: object
}

/** The events of the stream. The first one is `hello`. */
export type InspectEvent =
  | {
      readonly type: 'hello'
      readonly label: string
      readonly source: ServerSource
      readonly state: ConnectionState
      readonly messages: readonly LoggedMessage[]
      readonly questions: readonly Question[]
      readonly subscriptions: readonly string[]
      readonly roots: readonly Root[]
      /** The ids of the running calls. */
      readonly running: readonly string[]
    }
  | { readonly type: 'state'; readonly state: ConnectionState }
  | { readonly type: 'message'; readonly message: LoggedMessage }
  /** The whole log. Sent when it was cleared, or when messages were left out because the page read too slowly. */
  | { readonly type: 'log'; readonly messages: readonly LoggedMessage[] }
  | { readonly type: 'result'; readonly id: string; readonly result: unknown }
  | { readonly type: 'error'; readonly id: string; readonly error: ExplainedError }
  | {
      readonly type: 'progress'
      readonly id: string
      readonly progress?: number | undefined
      readonly total?: number | undefined
      readonly message?: string | undefined
    }
  | { readonly type: 'question'; readonly question: Question }
  | { readonly type: 'answered'; readonly question: string }
  | { readonly type: 'change'; readonly change: Change }
  | { readonly type: 'subscriptions'; readonly uris: readonly string[] }
  | { readonly type: 'roots'; readonly roots: readonly Root[] }
