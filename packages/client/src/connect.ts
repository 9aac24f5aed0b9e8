/** Connects to a server: over a carrier, or within the process. */

import { type Connector, guarded, isRevision, type Responder, type SubscriptionFilter } from '@mcpx/protocol'
import { createCalls } from './calls.ts'
import type { Client } from './client.ts'
import { type Core, createCore } from './core.ts'
import { type Inside, insides } from './insides.ts'
import { createLaterListening } from './later-listening.ts'
import type { Target } from './line.ts'
import { keepLink, type LinkKeeper } from './link-keeper.ts'
import type { ListenOptions } from './listening.ts'
import type { ClientOptions } from './options.ts'
import type { Subscriptions } from './subscriptions.ts'
import { createToolCallers } from './typed-tools.ts'

/**
 * Connects, and finds out which era the server speaks.
 *
 * ```ts
 * await using math = await connect<typeof server>(http('https://example.com/mcp'))
 * const { sum } = await math.tools.add({ a: 1, b: 2 })
 * ```
 */
export function connect<Server extends Responder>(server: Server, options?: ClientOptions): Promise<Client<Server>>
export function connect<Server = unknown>(connector: Connector, options?: ClientOptions): Promise<Client<Server>>
export async function connect(target: Target, options: ClientOptions = {}): Promise<Client> {
  const { respond, connect } = (target ?? {}) as Partial<Connector & Responder>
  if (!(respond ?? connect)) throw (await loadGiven()).wrongTarget(target)
  if (!isEra(options.era)) throw (await loadGiven()).wrongEra(options.era)
  const core = createCore(options)
  return createClient(core, await keepLink(core, target))
}

const loadGiven = () => import('./given.ts')

const isEra = (era: ClientOptions['era'] = 'auto') =>
  era === 'auto' || era === 'modern' || era === 'legacy' || isRevision(era)

function createClient(core: Core, keeper: LinkKeeper): Client {
  const calls = createCalls(core, keeper)
  const listen = (filter: SubscriptionFilter, options?: ListenOptions) =>
    createLaterListening(async () => {
      const { startListening } = await import('./listening.ts')
      return startListening(core, keeper, filter, options)
    })
  const inside: Inside = {
    closing: keeper.closing,
    timeout: core.options.timeout,
    isOrdered: () => keeper.latest.connection.tellsApart !== true,
  }
  const subscriptions = createLaterSubscriptions(core, keeper, listen, inside)

  const client: Client = {
    get era() {
      return keeper.latest.era
    },
    get revision() {
      return keeper.latest.revision
    },
    get server() {
      return keeper.latest.server
    },
    tools: createToolCallers(calls.callTool, () => keeper.latest.era === 'legacy'),
    ...calls,
    subscribe: async (uri, options = {}) => (await subscriptions()).subscribe(uri, options),
    unsubscribe: async (uri) => (await subscriptions()).unsubscribe(uri),
    listen,
    discover: (options = {}) => keeper.use((link) => link.discover(options)),
    setLogLevel: (level, options = {}) => keeper.use((link) => link.setLogLevel(level, options)),
    ping: (options = {}) => keeper.use((link) => link.ping(options)),
    notifyRootsChanged: () => keeper.use((link) => link.rootsChanged()),
    close: () => keeper.close(),
    [Symbol.asyncDispose]: () => keeper.close(),
  }
  insides.set(client, inside)
  return client
}

/** What keeps the subscriptions, loaded by the first who wants one; at once where somebody hears of all changes. */
function createLaterSubscriptions(core: Core, keeper: LinkKeeper, listen: Client['listen'], inside: Inside) {
  const onChange = core.options.onChange && guarded(core.options.onChange, core.report)
  const capabilities = () => keeper.latest.server.capabilities
  let loading: Promise<Subscriptions> | undefined
  async function load(): Promise<Subscriptions> {
    const { createSubscriptions } = await import('./subscriptions.ts')
    return createSubscriptions({ ...inside, listen, capabilities, onChange, report: core.report })
  }
  const get = () => {
    loading ??= load().catch((error) => {
      loading = undefined
      throw error
    })
    return loading
  }
  if (onChange !== undefined) get().catch(core.report)
  return get
}
