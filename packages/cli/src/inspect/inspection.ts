/** Manages the connection to a server, runs the calls of the page, and sends events to the page. */

import { apps, contentSecurityPolicy, type LoadedView, permissionsPolicy, readView } from '@mcpx/apps/client'
import type { Client, ClientOptions, Listing } from '@mcpx/client'
import { type Connector, isObject, type JsonObject, type Responder, type Root } from '@mcpx/protocol'
import { memoryConnector } from '@mcpx/protocol/memory'
import { usageError } from '../output/errors.ts'
import type { ConnectionState, InspectEvent, Items, Methods, PageCall, ServedView, ServerSource } from './api.ts'
import { explainError } from './explain-error.ts'
import { MessageLog } from './message-log.ts'
import { Questions } from './questions.ts'

/** How many items of a list are read. */
const MAX_ITEMS = 10_000
/** How many calls of the page may run at once. */
const MAX_RUNNING = 100

/** The options of an inspection. */
export interface InspectionOptions {
  /** A name of the server for people. */
  readonly label: string
  readonly source: ServerSource
  readonly connector: Connector | Responder
  /** Connects to a server with the options of the command line and with further options. */
  readonly connect: (connector: Connector, options: ClientOptions) => Promise<Client>
  /** Serves the document of a view on another origin, and returns its address. */
  readonly serveView: (view: LoadedView, policy: string) => string
}

type Handlers = {
  readonly [Method in keyof Methods]: (
    params: Methods[Method]['params'],
    call: CallOfPage,
  ) => Promise<Methods[Method]['result']>
}

/** A running call of the page. */
interface CallOfPage {
  readonly id: string
  readonly signal: AbortSignal
}

/** The connection of one or more pages to a server. */
export class Inspection {
  readonly log = new MessageLog((message) => this.#emit({ type: 'message', message }))
  readonly #options: InspectionOptions
  readonly #listeners = new Set<(event: InspectEvent) => void>()
  readonly #running = new Map<string, AbortController>()
  readonly #subscriptions = new Set<string>()
  readonly #questions = new Questions({
    onQuestion: (question) => this.#emit({ type: 'question', question }),
    onAnswered: (question) => this.#emit({ type: 'answered', question }),
  })
  #state: ConnectionState = { status: 'connecting' }
  #client: Client | undefined
  #roots: readonly Root[] = []
  /** The number of the current attempt to connect. The result of an earlier attempt is ignored. */
  #attempt = 0

  constructor(options: InspectionOptions) {
    this.#options = options
  }

  /**
   * Calls a function with all events. The first event describes the current state. Returns a function that removes the
   * listener.
   */
  observe(listener: (event: InspectEvent) => void): () => void {
    const { label, source } = this.#options
    listener({
      type: 'hello',
      label,
      source,
      state: this.#state,
      messages: this.log.messages,
      questions: this.#questions.waiting,
      subscriptions: [...this.#subscriptions],
      roots: this.#roots,
      running: [...this.#running.keys()],
    })
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Connects, and closes an earlier connection. Never rejects: after a failure, the connection state is `failed`. */
  async connect(era?: string): Promise<void> {
    this.#attempt += 1
    const attempt = this.#attempt
    const earlier = this.#client
    this.#client = undefined
    this.#subscriptions.clear()
    this.#emit({ type: 'subscriptions', uris: [] })
    this.#setState({ status: 'connecting' })
    await earlier?.close()
    const start = performance.now()
    try {
      const client = await this.#options.connect(this.#observed(), this.#clientOptions(era))
      if (attempt !== this.#attempt) return await client.close()
      this.#client = client
      const { era: spoken, revision, server } = client
      this.#setState({ status: 'connected', era: spoken, revision, server, duration: performance.now() - start })
    } catch (error) {
      if (attempt !== this.#attempt) return
      const explained = explainError(error)
      this.log.addEvent('not connected', explained.message)
      this.#setState({ status: 'failed', error: explained })
    }
  }

  /** Runs a call of the page. Its result is an event. Never rejects. */
  async run({ id, method, params }: PageCall): Promise<void> {
    const controller = new AbortController()
    try {
      if (this.#running.has(id)) throw usageError(`The id ${id} is in use`)
      if (this.#running.size >= MAX_RUNNING)
        throw usageError(`More than ${MAX_RUNNING} calls run`, 'Cancel some of them.')
      this.#running.set(id, controller)
      const handle = this.#handlers[method] as (params: object, call: CallOfPage) => Promise<unknown>
      const result = await handle(params, { id, signal: controller.signal })
      this.#emit({ type: 'result', id, result })
    } catch (error) {
      this.#emit({ type: 'error', id, error: explainError(error) })
    } finally {
      if (this.#running.get(id) === controller) this.#running.delete(id)
    }
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    this.#attempt += 1
    for (const call of this.#running.values()) call.abort()
    await this.#client?.close()
  }

  /** Whether the page may call a method of this name. */
  hasMethod(name: unknown): name is keyof Methods {
    return typeof name === 'string' && Object.hasOwn(this.#handlers, name)
  }

  readonly #handlers: Handlers = {
    connect: async ({ era }) => {
      void this.connect(era)
      return null
    },
    listTools: (_, call) => readList((options) => this.#connected().listTools(options), call),
    listResources: (_, call) => readList((options) => this.#connected().listResources(options), call),
    listResourceTemplates: (_, call) => readList((options) => this.#connected().listResourceTemplates(options), call),
    listPrompts: (_, call) => readList((options) => this.#connected().listPrompts(options), call),
    callTool: ({ name, args }, call) => this.#connected().callTool(name, args, this.#callOptions(call)),
    readResource: ({ uri }, call) => this.#connected().readResource(uri, { ...this.#callOptions(call), fresh: true }),
    getPrompt: ({ name, args }, call) => this.#connected().getPrompt(name, args, this.#callOptions(call)),
    complete: (params, { signal }) => this.#connected().complete(params, { signal }),
    subscribe: async ({ uri }, { signal }) => {
      await this.#connected().subscribe(uri, { signal })
      this.#subscriptions.add(uri)
      this.#emit({ type: 'subscriptions', uris: [...this.#subscriptions] })
      return null
    },
    unsubscribe: async ({ uri }) => {
      this.#subscriptions.delete(uri)
      this.#emit({ type: 'subscriptions', uris: [...this.#subscriptions] })
      await this.#connected().unsubscribe(uri)
      return null
    },
    setLogLevel: async ({ level }, { signal }) => {
      await this.#connected().setLogLevel(level, { signal })
      return null
    },
    setRoots: async ({ roots }) => {
      this.#roots = readRoots(roots)
      this.#emit({ type: 'roots', roots: this.#roots })
      await this.#client?.notifyRootsChanged()
      return null
    },
    ping: async (_, { signal }) => {
      const client = this.#connected()
      if (client.era === 'legacy') await client.ping({ signal })
      else await client.discover({ signal, fresh: true })
      return null
    },
    openView: async ({ tool }, { signal }): Promise<ServedView> => {
      const view = await readView(this.#connected(), tool, { signal })
      const url = this.#options.serveView(view, contentSecurityPolicy(view))
      return { url, allow: permissionsPolicy(view.permissions), prefersBorder: view.prefersBorder === true }
    },
    answer: async ({ question, answer }) => {
      this.#questions.answer(question, answer)
      return null
    },
    cancel: async ({ call }) => {
      this.#running.get(call)?.abort()
      return null
    },
    clearLog: async () => {
      this.log.clear()
      this.#emit({ type: 'log', messages: [] })
      return null
    },
  }

  #connected(): Client {
    if (this.#client !== undefined) return this.#client
    throw usageError('There is no connection to the server', 'Connect first.')
  }

  #callOptions({ id, signal }: CallOfPage) {
    return {
      signal,
      onProgress: (progress: object) => this.#emit({ type: 'progress', id, ...progress }),
      onStatus: ({ status, statusMessage }: { readonly status: string; readonly statusMessage?: string | undefined }) =>
        this.#emit({ type: 'progress', id, message: `task ${status}${statusMessage ? `: ${statusMessage}` : ''}` }),
    }
  }

  /** Returns a connector whose messages are logged. */
  #observed(): Connector {
    const { connector } = this.#options
    const inner = 'respond' in connector ? memoryConnector(connector) : connector
    return Object.assign(Object.create(inner) as Connector, {
      connect: async (options: Parameters<Connector['connect']>[0]) => {
        const { onMessage } = options
        const connection = await inner.connect({
          ...options,
          onMessage: (direction, message) => {
            this.log.add(direction, message)
            onMessage?.(direction, message)
          },
        })
        void connection.closed.then((error) => this.log.addEvent('connection closed', error?.message))
        return connection
      },
    })
  }

  #clientOptions(era: string | undefined): ClientOptions {
    return {
      ...(era !== undefined && { era: era as NonNullable<ClientOptions['era']> }),
      extensions: [apps()],
      onElicit: this.#questions.elicit,
      onSample: this.#questions.sample,
      sampling: { tools: true },
      roots: () => this.#roots,
      // The messages are in the log anyway. With this callback, the client requests log messages.
      onLog: () => {},
      onChange: (change) => this.#emit({ type: 'change', change }),
      onWarning: (warning) => this.log.addEvent('warning', warning.message),
    }
  }

  #setState(state: ConnectionState): void {
    this.#state = state
    this.#emit({ type: 'state', state })
  }

  #emit(event: InspectEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}

async function readList<Item>(
  list: (options: { signal: AbortSignal; fresh: true }) => Listing<Item>,
  { signal }: CallOfPage,
): Promise<Items<Item>> {
  const items: Item[] = []
  for await (const item of list({ signal, fresh: true })) {
    if (items.length === MAX_ITEMS) return { items, isCut: true }
    items.push(item)
  }
  return { items, isCut: false }
}

function readRoots(roots: readonly unknown[]): Root[] {
  return roots.map((root) => {
    const { uri, name } = (isObject(root) ? root : {}) as JsonObject
    if (typeof uri !== 'string' || !/^file:\/\//.test(uri))
      throw usageError(`roots: expected a URI that begins with file://, got ${JSON.stringify(uri)}`)
    return { uri, ...(typeof name === 'string' && name !== '' && { name }) }
  })
}
