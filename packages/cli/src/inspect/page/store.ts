/** The state of the page: the data that the process has sent, and the lists that were read. */

import type { Prompt, Resource, ResourceTemplate, Tool } from '@mcpx/client'
import type { Root } from '@mcpx/protocol'
import type {
  ConnectionState,
  ExplainedError,
  InspectEvent,
  Items,
  LoggedMessage,
  Methods,
  Question,
  ServerSource,
} from '../api.ts'

/** How many messages the page keeps. */
const MAX_MESSAGES = 2_000

/** A list of the server. */
export interface ListState<Item> {
  readonly status: 'empty' | 'loading' | 'ready' | 'failed'
  readonly items: readonly Item[]
  readonly isCut: boolean
  readonly error?: ExplainedError | undefined
}

/** The lists by the names of their methods. */
export interface Lists {
  readonly listTools: ListState<Tool>
  readonly listResources: ListState<Resource>
  readonly listResourceTemplates: ListState<ResourceTemplate>
  readonly listPrompts: ListState<Prompt>
}

/** The state of the page. */
export interface PageState {
  /** Whether the stream of events is open. */
  readonly isOnline: boolean
  readonly label: string
  readonly source: ServerSource
  readonly connection: ConnectionState
  readonly messages: readonly LoggedMessage[]
  readonly questions: readonly Question[]
  readonly subscriptions: readonly string[]
  /** The times of the last updates of resources, by URI. */
  readonly updates: Readonly<Record<string, number>>
  readonly roots: readonly Root[]
  readonly lists: Lists
}

const EMPTY: ListState<never> = { status: 'empty', items: [], isCut: false }
const NO_LISTS: Lists = {
  listTools: EMPTY,
  listResources: EMPTY,
  listResourceTemplates: EMPTY,
  listPrompts: EMPTY,
}

let state: PageState = {
  isOnline: false,
  label: '',
  source: { kind: 'stdin' },
  connection: { status: 'connecting' },
  messages: [],
  questions: [],
  subscriptions: [],
  updates: {},
  roots: [],
  lists: NO_LISTS,
}
const listeners = new Set<() => void>()
let isScheduled = false

/** Returns the current state. */
export function getState(): PageState {
  return state
}

/** Calls a function after each change of the state. Returns a function that removes the listener. */
export function subscribeToState(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function change(part: Partial<PageState>): void {
  state = { ...state, ...part }
  if (isScheduled) return
  isScheduled = true
  // Many messages may arrive at once, so render once for all. Do not use an animation frame, because hidden tabs have
  // none.
  setTimeout(() => {
    isScheduled = false
    for (const listener of listeners) listener()
  }, 16)
}

/** An error that the process has explained. */
export class CallError extends Error {
  readonly explained: ExplainedError

  constructor(explained: ExplainedError) {
    super(explained.message)
    this.explained = explained
  }
}

/** Returns the explanation of any error of a call. */
export function explainedOf(error: unknown): ExplainedError {
  if (error instanceof CallError) return error.explained
  return { title: 'Error of the page', message: error instanceof Error ? error.message : String(error) }
}

/** Progress of a call. */
export interface CallProgress {
  readonly progress?: number | undefined
  readonly total?: number | undefined
  readonly message?: string | undefined
}

interface PendingCall {
  resolve(result: unknown): void
  reject(error: Error): void
  readonly onProgress: ((progress: CallProgress) => void) | undefined
}

const pending = new Map<string, PendingCall>()

/** The options of `call`. */
export interface CallSettings {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: CallProgress) => void) | undefined
}

/** Calls a method of the process. The signal cancels the call; it then rejects with the error of the process. */
export async function call<Method extends keyof Methods>(
  method: Method,
  params: Methods[Method]['params'],
  { signal, onProgress }: CallSettings = {},
): Promise<Methods[Method]['result']> {
  const id = crypto.randomUUID()
  const result = new Promise<unknown>((resolve, reject) => pending.set(id, { resolve, reject, onProgress }))
  const cancel = () => void call('cancel', { call: id }).catch(() => {})
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    const body = JSON.stringify({ id, method, params })
    const response = await fetch('calls', { method: 'POST', body }).catch(() => undefined)
    if (response?.status !== 202) throw new CallError(await explainRefusal(response))
    return (await result) as Methods[Method]['result']
  } finally {
    signal?.removeEventListener('abort', cancel)
    pending.delete(id)
  }
}

async function explainRefusal(response: Response | undefined): Promise<ExplainedError> {
  if (response === undefined) {
    const remedy = 'Start mcpx inspect again, and open the address that it prints.'
    return { title: 'mcpx inspect has ended', message: 'The process of this page does not answer.', remedy }
  }
  return { title: 'Refused by mcpx inspect', code: response.status, message: await response.text() }
}

/** Returns a message that was too long for the stream of events. */
export async function fetchMessage(number: number): Promise<unknown> {
  const response = await fetch(`messages/${number}`)
  return response.ok ? response.json() : response.text()
}

/** Reads a list of the server again. */
export async function loadList<Name extends keyof Lists>(name: Name): Promise<void> {
  const setList = (list: Partial<Lists[Name]>) =>
    change({ lists: { ...state.lists, [name]: { ...state.lists[name], ...list } } })
  setList({ status: 'loading', error: undefined } as Partial<Lists[Name]>)
  try {
    const { items, isCut } = (await call(name, {})) as Items<unknown>
    setList({ status: 'ready', items, isCut } as Partial<Lists[Name]>)
  } catch (error) {
    setList({ status: 'failed', error: explainedOf(error) } as Partial<Lists[Name]>)
  }
}

/** Reads the lists of all capabilities of the server. */
export function loadLists(): void {
  if (state.connection.status !== 'connected') return
  const { tools, resources, prompts } = state.connection.server.capabilities
  if (tools !== undefined) void loadList('listTools')
  if (prompts !== undefined) void loadList('listPrompts')
  if (resources === undefined) return
  void loadList('listResources')
  void loadList('listResourceTemplates')
}

/** Opens the stream of events. The browser opens it again when the connection is lost. */
export function openEvents(): void {
  const events = new EventSource('events')
  events.onmessage = ({ data }) => handle(JSON.parse(data as string) as InspectEvent)
  events.onerror = () => change({ isOnline: false })
}

function handle(event: InspectEvent): void {
  switch (event.type) {
    case 'hello': {
      const { label, source, messages, questions, subscriptions, roots, running } = event
      const lost = { title: 'Connection of the page lost', message: 'The result arrived while the page was offline.' }
      for (const [id, { reject }] of pending) if (!running.includes(id)) reject(new CallError(lost))
      change({ isOnline: true, label, source, messages, questions, subscriptions, roots })
      setConnection(event.state)
      break
    }
    case 'state':
      setConnection(event.state)
      break
    case 'message':
      change({ messages: [...state.messages.slice(1 - MAX_MESSAGES), event.message] })
      break
    case 'log':
      change({ messages: event.messages })
      break
    case 'result':
      pending.get(event.id)?.resolve(event.result)
      break
    case 'error':
      pending.get(event.id)?.reject(new CallError(event.error))
      break
    case 'progress':
      pending.get(event.id)?.onProgress?.(event)
      break
    case 'question':
      change({ questions: [...state.questions, event.question] })
      break
    case 'answered':
      change({ questions: state.questions.filter(({ id }) => id !== event.question) })
      break
    case 'subscriptions':
      change({ subscriptions: event.uris })
      break
    case 'roots':
      change({ roots: event.roots })
      break
    case 'change':
      handleChange(event.change)
      break
  }
}

function setConnection(connection: ConnectionState): void {
  const isNew = connection.status === 'connected'
  change({ connection, ...(!isNew && { lists: NO_LISTS }) })
  if (isNew) loadLists()
}

function handleChange(changed: Extract<InspectEvent, { type: 'change' }>['change']): void {
  if (changed.kind === 'tools') void loadList('listTools')
  else if (changed.kind === 'prompts') void loadList('listPrompts')
  else if (changed.kind === 'resources') {
    void loadList('listResources')
    void loadList('listResourceTemplates')
  } else if (changed.kind === 'resource') change({ updates: { ...state.updates, [changed.uri]: Date.now() } })
}
