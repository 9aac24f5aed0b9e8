/** One process of the server that `mcpx dev` serves: starts it, counts its calls, and ends it when they have finished. */

import { clearTimeout, setTimeout } from 'node:timers'
import { setImmediate } from 'node:timers/promises'
import { type Client, connect, proxy, type RequestCallOptions } from '@mcpx/client'
import {
  type Change,
  type Connection,
  ConnectionError,
  type Connector,
  type Context,
  type Handler,
  type InputRequiredResult,
  internalError,
  type JsonObject,
  type RpcError,
} from '@mcpx/protocol'
import { deriveContext } from '@mcpx/server'
import { spawn } from '@mcpx/transport-stdio'
import { ExitCode } from '../output/errors.ts'
import { FileReports, REPORT_VARIABLE } from '../server/loaded-files.ts'
import { VERSION } from '../version.ts'

/** The options of `startServerProcess`. */
export interface StartOptions {
  /** The command that serves over standard input and output. */
  readonly command: readonly [command: string, ...args: string[]]
  readonly env: Readonly<Record<string, string | undefined>>
  /** How long the server may take to start, in ms. */
  readonly connectTimeout: number
  readonly signal: AbortSignal
  /** Called with the text that the process writes to standard error. */
  readonly onStderr: (text: string) => void
  /** Called with the path of each file that the process loads. */
  readonly onFile: (path: string) => void
  /** Called with the changes of lists, and of the resources that the client has subscribed to. */
  readonly onChange: (change: Change) => void
  readonly onWarning: (warning: Error) => void
}

/** The methods of a handler that answer requests of clients. */
export type RequestMember = Exclude<keyof Handler, 'changes' | 'subscribe' | 'unsubscribe' | 'setLogLevel'>

/**
 * The capabilities for input requests, for legacy servers. A modern server receives the capabilities of each caller
 * instead.
 */
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
/**
 * How long a process may take to exit after its standard input was closed, in ms. After this time, it receives SIGTERM.
 */
const END_TIMEOUT = 1_000
/** How long the first list of tools may take, in ms. */
const LIST_TIMEOUT = 5_000

/** Starts a server process. If it does not start, rejects with the error that the process wrote. */
export async function startServerProcess(options: StartOptions): Promise<ServerProcess> {
  const { onChange, onWarning, signal, connectTimeout } = options
  const spawned = spawnReporting(options)
  let connection: Connection | undefined
  let isStarted = false
  const connector: Connector = {
    async connect(connectOptions) {
      if (isStarted) throw new ConnectionError('closed', 'The server process has ended')
      // The client would start a second process to try the other era. It would fail for the same reason, so reject
      // here.
      const failure = await Promise.race([connection?.closed, undefined])
      if (hasReportedFailure(failure)) throw failure
      connection = await spawned.connect(connectOptions)
      return connection
    },
  }
  const client = await connect(connector, {
    clientInfo: { name: 'mcpx-dev', version: VERSION },
    capabilities: CAPABILITIES,
    // Each caller has its own timeout.
    timeout: Number.POSITIVE_INFINITY,
    maxTimeout: Number.POSITIVE_INFINITY,
    connectTimeout,
    cache: false,
    signal,
    onChange,
    onWarning,
  }).catch((error: unknown) => {
    throw new Error(describeStartFailure(error), { cause: error })
  })
  isStarted = true
  const ended = connection?.closed ?? Promise.resolve(undefined)
  return new ServerProcess(client, ended, await findRepeatableTools(client), onWarning)
}

/** Returns a connector whose process reports the files that it loads. */
function spawnReporting({ command: [command, ...args], env, onStderr, onFile }: StartOptions): Connector {
  const reports = new FileReports()
  return spawn(command, args, {
    env: { ...env, [REPORT_VARIABLE]: '1' },
    restart: false,
    shutdown: { end: END_TIMEOUT },
    stderr(part) {
      const { text, files } = reports.read(part)
      for (const path of files) onFile(path)
      if (text !== '') onStderr(text)
    },
  })
}

/** Returns whether the process has written the reason of its failure. */
function hasReportedFailure(error: ConnectionError | undefined): error is ConnectionError {
  const { exitCode } = (error?.cause ?? {}) as { exitCode?: unknown }
  return exitCode === ExitCode.connection || exitCode === ExitCode.usage
}

/** Returns the error that `mcpx run` wrote, otherwise the error of the connection. */
function describeStartFailure(error: unknown): string {
  const { message, cause } = error as Error
  const { stderr = [] } = (cause ?? {}) as { stderr?: readonly string[] }
  const { text } = new FileReports().read(stderr.join('\n'))
  const index = text.lastIndexOf('error: ')
  return index < 0 ? message : text.slice(index + 'error: '.length).trim()
}

/** Returns the names of the tools with `readOnlyHint` or `idempotentHint`. */
async function findRepeatableTools(client: Client): Promise<ReadonlySet<string>> {
  if (client.server.capabilities.tools === undefined) return new Set()
  const tools = await client
    .listTools({ timeout: LIST_TIMEOUT })
    .all()
    .catch(() => [])
  const isRepeatable = ({ annotations }: (typeof tools)[number]) =>
    annotations?.readOnlyHint === true || annotations?.idempotentHint === true
  return new Set(tools.filter(isRepeatable).map(({ name }) => name))
}

/** A running server process. */
export class ServerProcess {
  readonly client: Client
  readonly handler: Handler
  /** Resolves when the process has ended: with the error, or with undefined after `close`. */
  readonly ended: Promise<ConnectionError | undefined>
  readonly #repeatableTools: ReadonlySet<string>
  /** The prefix of the states of calls that wait for input. These calls continue in this process. */
  readonly #statePrefix = `${crypto.randomUUID()}:`
  /** The number of running calls, and of calls that wait for input in this process. */
  #calls = 0
  #waiting = 0
  #endReason = 'The server process exited while the request ran'
  #onIdle: () => void = () => {}

  constructor(
    client: Client,
    ended: Promise<ConnectionError | undefined>,
    repeatableTools: ReadonlySet<string>,
    onWarning: (warning: Error) => void,
  ) {
    this.client = client
    this.ended = ended
    this.handler = proxy(client, { onWarning })
    this.#repeatableTools = repeatableTools
  }

  /** Returns whether this process created the state of a call. */
  ownsState(state: string): boolean {
    return state.startsWith(this.#statePrefix)
  }

  /** Runs a request. Rejects with a named error if the process ends before it has responded. */
  async run<Result>(member: RequestMember, params: object, ctx: Context): Promise<Result> {
    const method = this.handler[member] as ((params: object, ctx: Context) => Promise<Result>) | undefined
    const { requestState } = ctx
    const isContinued = requestState !== undefined && this.ownsState(requestState)
    if (isContinued) this.#waiting = Math.max(0, this.#waiting - 1)
    const own = isContinued ? deriveContext(ctx, { requestState: requestState.slice(this.#statePrefix.length) }) : ctx
    const isRepeatable = member !== 'callTool' || this.#repeatableTools.has((params as { name: string }).name)
    return this.#track(isRepeatable, async () => this.#markState((await method?.(params, own)) as Result))
  }

  /** Sends a request of an extension. Rejects as `run` does. */
  request(method: string, params: JsonObject, options: RequestCallOptions): Promise<object> {
    return this.#track(false, () => this.client.request(method, params, options))
  }

  async #track<Result>(isRepeatable: boolean, send: () => Promise<Result>): Promise<Result> {
    this.#calls += 1
    try {
      return await send()
    } catch (error) {
      throw isLost(error) ? this.#lostError(isRepeatable) : error
    } finally {
      this.#calls -= 1
      if (this.#isIdle) this.#onIdle()
    }
  }

  /** Ends the process when its calls have finished, at the latest after `drain` ms. */
  async retire(drain: number): Promise<void> {
    this.#endReason = `The server process was replaced, and the request did not finish within ${drain} ms (--drain)`
    // Let callers that have just received this process send their requests first.
    await setImmediate()
    if (!this.#isIdle) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
        timer = setTimeout(resolve, drain)
        void this.ended.then(() => resolve())
      })
      clearTimeout(timer)
    }
    await this.close()
  }

  /** Ends the process before its drain time is over, because there are too many replaced processes. */
  async closeEarly(): Promise<void> {
    this.#endReason = 'The server process was replaced so often that it had to be ended before the request finished'
    await this.close()
  }

  /** Ends the process at once. Further calls have no effect. */
  async close(): Promise<void> {
    this.#onIdle()
    await this.client.close()
  }

  get #isIdle(): boolean {
    return this.#calls === 0 && this.#waiting === 0
  }

  #markState<Result>(result: Result): Result {
    const { resultType, requestState } = (result ?? {}) as Partial<InputRequiredResult>
    if (resultType !== 'input_required' || requestState === undefined) return result
    this.#waiting += 1
    return { ...result, requestState: `${this.#statePrefix}${requestState}` }
  }

  #lostError(isRepeatable: boolean): RpcError {
    const advice = isRepeatable
      ? 'It is safe to repeat it.'
      : 'It may have had effects: a tool declares by readOnlyHint or idempotentHint that repeating is safe. Check before you repeat it.'
    return internalError(`${this.#endReason}. ${advice}`, {
      data: { reason: 'server-process-ended', retryable: isRepeatable },
    })
  }
}

function isLost(error: unknown): boolean {
  return error instanceof ConnectionError && (error.reason === 'closed' || error.reason === 'exited')
}
