/** Connects to a server, over a transport or within the process. */

import {
  type Connector,
  guarded,
  isObject,
  kindOf,
  quoted,
  type Responder,
  type SubscriptionFilter,
} from '@mcpx/protocol'
import { createCalls } from './calls.ts'
import { ChangeStream } from './change-stream.ts'
import type { Client, ServerOf } from './client.ts'
import type { EraConnection } from './era.ts'
import {
  type CallOptions,
  type ClientOptions,
  checkCallOptions,
  checkClientOptions,
  checkListenOptions,
  type ListenOptions,
} from './options.ts'
import { Reconnector } from './reconnect.ts'
import { ClientState } from './state.ts'
import { Subscriptions } from './subscriptions.ts'
import { reporters } from './telemetry.ts'
import { createToolCallers } from './typed-tools.ts'

/**
 * Connects to a server of any revision, and resolves to a client.
 *
 * ```ts
 * await using math = await connect<typeof server>(http('https://example.com/mcp'))
 * const { sum } = await math.tools.add({ a: 1, b: 2 })
 * ```
 *
 * @param target the connector of a transport, such as `http(url)` or `spawn(command, args)`; or a server of this process.
 * @throws TypeError for an invalid target, and for an unknown option
 * @throws ConnectionError when the server cannot be reached or does not answer
 * @throws LockError when the server differs from the option `lock`
 */
export async function connect<Server = unknown>(
  target: Connector | (Responder & Server),
  options: ClientOptions = {},
): Promise<Client<ServerOf<Server>>> {
  return connectAs<Server>(undefined, target, options)
}

/** Connects like `connect`. If a name is passed, the lines of the option `debug` begin with it. */
export async function connectAs<Server = unknown>(
  name: string | undefined,
  target: Connector | (Responder & Server),
  options: ClientOptions,
): Promise<Client<ServerOf<Server>>> {
  checkTarget(target)
  checkClientOptions(options)
  const state = new ClientState(options, name === undefined ? 'client' : `client ${name}`)
  const client = createClient<ServerOf<Server>>(state, await Reconnector.start(state, target))
  try {
    await state.lock?.checkServer(client)
    return client
  } catch (error) {
    await client.close()
    throw error
  }
}

function checkTarget(target: unknown): void {
  if (typeof target === 'string' || target instanceof URL) {
    throw new TypeError(`connect: expected a connector, got a URL; write connect(http(${quoted(String(target))}))`)
  }
  const { respond, connect, command, url } = (target ?? {}) as Partial<Responder & Connector & Record<string, unknown>>
  if (respond !== undefined || connect !== undefined) return
  if (command !== undefined || url !== undefined) {
    const [member, remedy] = url === undefined ? ['command', 'spawn(command, args)'] : ['url', 'http(url)']
    throw new TypeError(`connect: expected a connector, got an object with ${member}; write connect(${remedy})`)
  }
  if (isObject(target) && 'mcpServers' in target) throw settingsError('connect')
  throw new TypeError(`connect: expected http(url), spawn(command, args) or a server, got ${kindOf(target)}`)
}

/** The error of settings that were given instead of connectors. */
export function settingsError(place: string): TypeError {
  const remedy = 'write connectAll(fromSettings(settings, { spawn, http }))'
  return new TypeError(`${place}: expected a connector, got settings; ${remedy}`)
}

function createClient<Server>(state: ClientState, reconnector: Reconnector): Client<Server> {
  const { onChange, timeout } = state.options
  const listen = (filter: SubscriptionFilter, options: ListenOptions = {}) => {
    checkListenOptions(options)
    return new ChangeStream(state, reconnector, filter, options)
  }
  const subscriptions = new Subscriptions({
    listen,
    capabilities: () => reconnector.current.server.capabilities,
    onChange: onChange && guarded(onChange, state.onWarning),
    onWarning: state.onWarning,
    timeout,
    closing: reconnector.closing,
  })
  const calls = createCalls(state, reconnector, listen)

  async function use<T>(
    place: string,
    options: CallOptions,
    run: (connection: EraConnection) => Promise<T>,
  ): Promise<T> {
    checkCallOptions(place, options)
    return reconnector.use(place, options.signal, run)
  }

  const client: Client<Server> = {
    get era() {
      return reconnector.current.era
    },
    get revision() {
      return reconnector.current.revision
    },
    get server() {
      return reconnector.current.server
    },
    tools: createToolCallers<Server>(calls.callTool, () => reconnector.current.era === 'legacy'),
    ...calls,
    // The type parameter exists only at compile time.
    callTool: calls.callTool as Client<Server>['callTool'],
    getPrompt: calls.getPrompt as Client<Server>['getPrompt'],
    task: calls.task as Client<Server>['task'],
    extension: (extension) =>
      state.extensions.createClient(extension, {
        settingsOf: (id) => reconnector.current.server.capabilities.extensions?.[id],
        request: calls.request,
        listen,
      }),
    async subscribe(uri, options = {}) {
      checkListenOptions(options)
      await subscriptions.subscribe(uri, options)
    },
    unsubscribe: (uri) => subscriptions.unsubscribe(uri),
    listen,
    discover: (options = {}) => use('discover', options, (connection) => connection.discover(options)),
    setLogLevel: (level, options = {}) =>
      use('setLogLevel', options, (connection) => connection.setLogLevel(level, options)),
    ping: (options = {}) => use('ping', options, (connection) => connection.ping(options)),
    notifyRootsChanged: () => use('notifyRootsChanged', {}, (connection) => connection.notifyRootsChanged()),
    close: () => reconnector.close(),
    [Symbol.asyncDispose]: () => reconnector.close(),
  }
  if (state.reporter !== undefined) reporters.set(client, state.reporter)
  return client
}
