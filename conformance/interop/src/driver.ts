/** The common interface of the clients of all SDKs. */

import type {
  CallToolResult,
  CompleteRequestParams,
  CompleteResult,
  GetPromptResult,
  JsonObject,
  LoggingLevel,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from '@mcpx/protocol'

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: { progress: number; total?: number; message?: string }) => void
}

/** The notifications and input requests of the server, in order. */
export interface ReceivedMessages {
  readonly logs: { level: string; data: unknown; logger?: string }[]
  readonly updated: string[]
  /** The changed lists: `tools`, `resources`, `prompts`. */
  readonly lists: string[]
  readonly elicitations: { mode: string; message: string; url?: string }[]
}

export interface Driver {
  /** The negotiated revision. */
  readonly revision: string
  readonly server: {
    readonly name: string
    readonly title?: string | undefined
    readonly icons?: readonly { readonly src: string }[] | undefined
  }
  readonly instructions: string | undefined
  readonly received: ReceivedMessages
  /** Lists the tools of all pages. */
  listTools(): Promise<readonly Tool[]>
  callTool(name: string, args?: JsonObject, options?: CallOptions): Promise<CallToolResult>
  listResources(): Promise<readonly Resource[]>
  listTemplates(): Promise<readonly ResourceTemplate[]>
  readResource(uri: string): Promise<ReadResourceResult>
  listPrompts(): Promise<readonly Prompt[]>
  getPrompt(name: string, args?: Record<string, string>): Promise<GetPromptResult>
  complete(params: Omit<CompleteRequestParams, '_meta'>): Promise<CompleteResult>
  setLogLevel(level: LoggingLevel): Promise<void>
  /** Subscribes to a resource; the returned function unsubscribes. */
  watch(uri: string): Promise<() => Promise<void>>
  /** Starts to receive changes of the tool list. */
  watchTools(): Promise<void>
  /**
   * Subscribes to the tool list and to resources with one request. `closed` resolves when a new subscription is needed
   * to receive further changes. It is undefined if the client renews the subscription.
   */
  listen?(uris: readonly string[]): Promise<{ readonly closed?: Promise<unknown> }>
  ping(): Promise<void>
  /** Sends a request with an unknown method. */
  requestUnknownMethod(): Promise<unknown>
  close(): Promise<void>
}

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** The options for connecting to a server. */
export interface Target {
  readonly transport: 'stdio' | 'http' | 'sse'
  /** The URL of a server over HTTP. */
  readonly url?: string
  /** The command line of a server over stdio. */
  readonly command?: readonly string[]
  /** Environment variables of the server process. */
  readonly env?: Readonly<Record<string, string>>
  /** The roots of the client. Default: one folder. */
  readonly roots?: readonly { readonly uri: string; readonly name: string }[]
  /** The revision to use. Default: the client detects it. */
  readonly revision?: string
  readonly fetch?: Fetch
  /** The number of attempts to reopen a lost stream that may fail in a row. Default: 3. */
  readonly retries?: number
}

export type ConnectClient = (target: Target) => Promise<Driver>

export function noMessages(): ReceivedMessages {
  return { logs: [], updated: [], lists: [], elicitations: [] }
}

/** The content of forms, by their message. Other forms get a name and an age. */
export const answers: Readonly<Record<string, Record<string, string | number | boolean | string[]>>> = {
  'Fields?': {
    words: 'a word',
    mail: 'ada@example.com',
    site: 'https://example.com/',
    day: '2026-01-31',
    moment: '2026-01-31T12:00:00Z',
    ratio: 0.5,
    agreed: true,
    size: 'm',
  },
  'Choices?': { colour: 'r', tags: ['new'], tastes: ['sweet'] },
}

/** Answers an elicitation; the message decides the action. */
export function answerForm(received: ReceivedMessages, mode: string, message: string, url?: string) {
  received.elicitations.push({ mode, message, ...(url !== undefined && { url }) })
  if (message.startsWith('Decline')) return { action: 'decline' as const }
  if (mode === 'url') return { action: 'accept' as const }
  return { action: 'accept' as const, content: answers[message] ?? { name: 'Ada', age: 36 } }
}

/** Answers a sampling request. */
export function answerSampling(params: object) {
  const { messages, tools } = params as {
    messages: { content: { text?: string } | { text?: string }[] }[]
    tools?: { name: string }[]
  }
  if (tools !== undefined) {
    const content = { type: 'tool_use' as const, id: 'use-1', name: tools[0]?.name ?? '', input: {} }
    return { role: 'assistant' as const, content, model: 'parrot', stopReason: 'toolUse' }
  }
  const content = messages[0]?.content
  const text = Array.isArray(content) ? content[0]?.text : content?.text
  return {
    role: 'assistant' as const,
    content: { type: 'text' as const, text: `You said: ${text}` },
    model: 'parrot',
    stopReason: 'endTurn',
  }
}

export const folders = [{ uri: 'file:///work', name: 'work' }]
