/** A client as the features see it, whoever wrote it. */

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

/** What the server said or asked unasked, in the order in which it came. */
export interface Heard {
  readonly logs: { level: string; data: unknown; logger?: string }[]
  readonly updated: string[]
  /** Which lists have changed: `tools`, `resources`, `prompts`. */
  readonly lists: string[]
  readonly asked: { mode: string; message: string; url?: string }[]
}

export interface Driver {
  /** The revision that both sides agreed on. */
  readonly revision: string
  readonly server: {
    readonly name: string
    readonly title?: string | undefined
    readonly icons?: readonly { readonly src: string }[] | undefined
  }
  readonly instructions: string | undefined
  readonly heard: Heard
  /** Every tool, of however many pages. */
  listTools(): Promise<readonly Tool[]>
  callTool(name: string, args?: JsonObject, options?: CallOptions): Promise<CallToolResult>
  listResources(): Promise<readonly Resource[]>
  listTemplates(): Promise<readonly ResourceTemplate[]>
  readResource(uri: string): Promise<ReadResourceResult>
  listPrompts(): Promise<readonly Prompt[]>
  getPrompt(name: string, args?: Record<string, string>): Promise<GetPromptResult>
  complete(params: Omit<CompleteRequestParams, '_meta'>): Promise<CompleteResult>
  setLogLevel(level: LoggingLevel): Promise<void>
  /** Hears of updates of a resource, until the function that it gives is called. */
  watch(uri: string): Promise<() => Promise<void>>
  /** Hears of changes of the list of tools from now on. */
  watchTools(): Promise<void>
  ping(): Promise<void>
  /** Sends a request of a method that does not exist. */
  nonsense(): Promise<unknown>
  close(): Promise<void>
}

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Where a server is, and how it is to be spoken to. */
export interface Target {
  readonly carrier: 'stdio' | 'http' | 'sse'
  /** Of a server that is reached by URL. */
  readonly url?: string
  /** The command line that starts a server. */
  readonly command?: readonly string[]
  /** Variables for the server that is started. */
  readonly env?: Readonly<Record<string, string>>
  /** The folders of the client, where they matter. */
  readonly roots?: readonly { readonly uri: string; readonly name: string }[]
  /** Which revision is to be spoken; nothing: the client finds out. */
  readonly revision?: string
  readonly fetch?: Fetch
}

export type ConnectClient = (target: Target) => Promise<Driver>

export function nothingHeard(): Heard {
  return { logs: [], updated: [], lists: [], asked: [] }
}

/** What is filled into other forms than the one for a name, by what they ask. */
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

/** What every client answers: the message of the form decides what the user does. */
export function answerForm(heard: Heard, mode: string, message: string, url?: string) {
  heard.asked.push({ mode, message, ...(url !== undefined && { url }) })
  if (message.startsWith('Decline')) return { action: 'decline' as const }
  if (mode === 'url') return { action: 'accept' as const }
  return { action: 'accept' as const, content: answers[message] ?? { name: 'Ada', age: 36 } }
}

/** What the model of every client writes. */
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
