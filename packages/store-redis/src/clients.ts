/** The two Redis clients that a store accepts, behind one interface. */

/** A client of `@redis/client`, which the package `redis` exports too. */
export interface NodeRedisClient {
  /** Sends a command: its name, then its arguments. */
  sendCommand(args: string[]): Promise<unknown>
  /** Creates a client with the same settings. */
  duplicate(): NodeRedisSubscriber
}

/** A cluster client of `@redis/client`. */
export interface NodeRedisCluster {
  /** Sends a command to the server that has the key. */
  sendCommand(firstKey: string | undefined, isReadonly: boolean, args: string[]): Promise<unknown>
  /** Creates a client with the same settings. */
  duplicate(): NodeRedisSubscriber
  /** Returns the client of one server of the cluster. */
  nodeClient(node: never): unknown
}

/** The connection of `@redis/client` for subscriptions. */
export interface NodeRedisSubscriber {
  connect(): Promise<unknown>
  subscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  on(event: string, listener: (value: Error) => void): unknown
  destroy(): void
}

/** A client of `ioredis`. */
export interface IoRedisClient {
  /** Sends a command: its name, then its arguments. */
  call(command: string, ...args: string[]): Promise<unknown>
  /** Creates a client with the same settings. `settings` replaces some of them. */
  duplicate(settings?: { retryStrategy?: null; lazyConnect?: boolean }): IoRedisSubscriber
}

/** A cluster client of `ioredis`. */
export interface IoRedisCluster {
  /** Sends a command to the server that has the key. */
  call(command: string, ...args: string[]): Promise<unknown>
  /** Returns the clients of all known servers. */
  nodes(): readonly IoRedisClient[]
}

/** The connection of `ioredis` for subscriptions. */
export interface IoRedisSubscriber {
  readonly status?: string
  connect(): Promise<unknown>
  subscribe(...channels: string[]): Promise<unknown>
  unsubscribe(...channels: string[]): Promise<unknown>
  on(event: string, listener: (first: string & Error, second: string) => void): unknown
  disconnect(): void
}

/** A connected client: of `@redis/client` (or `redis`) 6 or of `ioredis` 6, for one server or a cluster. */
export type RedisClient = NodeRedisClient | NodeRedisCluster | IoRedisClient | IoRedisCluster

/** The callbacks of a connection for subscriptions. */
export interface SubscriberListener {
  readonly onMessage: (channel: string, message: string) => void
  /** Called when a lost connection was opened again. */
  readonly onReconnect: () => void
  readonly onError: (error: Error) => void
}

/** A connection for subscriptions. */
export interface Subscriber {
  subscribe(channel: string): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
}

/** Sends commands, and opens a connection for subscriptions. */
export interface Connection {
  /** @param key the key of the command, which determines the server in a cluster */
  send(key: string, args: string[]): Promise<unknown>
  /**
   * Publishes a message. In a cluster, all messages of a channel are sent to one server, so that they arrive in order.
   */
  publish(channel: string, message: string): Promise<unknown>
  /** @param signal closes the connection, even while it is being opened */
  openSubscriber(listener: SubscriberListener, signal: AbortSignal): Promise<Subscriber>
}

/** Returns the connection of a client. Throws a `TypeError` for an unsupported client. */
export function connectionOf(client: RedisClient): Connection {
  if (isIoRedis(client)) return ioRedisConnection(client)
  const isNodeRedis = typeof client === 'object' && client !== null && typeof client.sendCommand === 'function'
  if (!isNodeRedis || typeof client.duplicate !== 'function') {
    throw new TypeError('redisStore: expected a connected client of @redis/client 6 or ioredis 6, got something else')
  }
  return nodeRedisConnection(client)
}

function isIoRedis(client: RedisClient): client is IoRedisClient | IoRedisCluster {
  return typeof (client as Partial<IoRedisClient> | null)?.call === 'function'
}

function isCluster(client: NodeRedisClient | NodeRedisCluster): client is NodeRedisCluster {
  return 'nodeClient' in client
}

const PUBLISH = "return redis.call('PUBLISH', KEYS[1], ARGV[1])"

/**
 * Returns the command that publishes a message. A cluster client sends a command without keys to any server, but a script to
 * the server of its key.
 */
function publishCommand(channel: string, message: string, inCluster: boolean): string[] {
  return inCluster ? ['EVAL', PUBLISH, '1', channel, message] : ['PUBLISH', channel, message]
}

function nodeRedisConnection(client: NodeRedisClient | NodeRedisCluster): Connection {
  const send = (key: string, args: string[]) =>
    isCluster(client) ? client.sendCommand(key, false, args) : client.sendCommand(args)
  return {
    send,
    publish: (channel, message) => send(channel, publishCommand(channel, message, isCluster(client))),

    async openSubscriber({ onMessage, onReconnect, onError }, signal) {
      const subscriber = client.duplicate()
      subscriber.on('error', onError)
      signal.addEventListener('abort', () => {
        try {
          subscriber.destroy()
        } catch {
          // The connection has already ended.
        }
      })
      await subscriber.connect()
      const channels = new Set<string>()
      // The client has subscribed to all channels again when it emits `ready`. A cluster emits `node-ready` for each
      // node.
      subscriber.on(isCluster(client) ? 'node-ready' : 'ready', () => {
        if (channels.size > 0) onReconnect()
      })
      return {
        async subscribe(channel) {
          await subscriber.subscribe(channel, (message) => onMessage(channel, message))
          channels.add(channel)
        },
        async unsubscribe(channel) {
          channels.delete(channel)
          await subscriber.unsubscribe(channel)
        },
      }
    },
  }
}

function ioRedisConnection(client: IoRedisClient | IoRedisCluster): Connection {
  const send = (_key: string, [name = '', ...args]: string[]) => client.call(name, ...args)
  return {
    send,
    publish: (channel, message) => send(channel, publishCommand(channel, message, 'nodes' in client)),
    openSubscriber: (listener, signal) => openIoRedis(client, listener, signal),
  }
}

/** The first and the longest delay before a lost connection is opened again, in ms. */
const FIRST_DELAY = 50
const LAST_DELAY = 2_000

/** Resolves after a time in ms, or when the signal is aborted. */
function pause(time: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, time)
    signal.addEventListener('abort', end)
  })
}

/**
 * Opens a connection, and replaces it when it is lost. In a cluster, it connects to a random server, because each server
 * forwards the messages of all others. The cluster client has its own connection for subscriptions, but does not report when
 * it replaces that connection, and drops all subscriptions when it fails to renew them.
 */
async function openIoRedis(
  client: IoRedisClient | IoRedisCluster,
  { onMessage, onReconnect, onError }: SubscriberListener,
  signal: AbortSignal,
): Promise<Subscriber> {
  const channels = new Set<string>()
  let connecting = connect()

  async function connect(): Promise<IoRedisSubscriber> {
    const nodes = 'nodes' in client ? client.nodes() : [client]
    const node = nodes[Math.floor(Math.random() * nodes.length)]
    if (node === undefined)
      throw new Error('redisStore: expected a cluster client that is connected to a server, got one without servers')
    const connection = node.duplicate({ retryStrategy: null, lazyConnect: true })
    const disconnect = () => connection.disconnect()
    signal.addEventListener('abort', disconnect)
    connection.on('error', onError)
    connection.on('message', onMessage)
    try {
      await connection.connect()
      if (channels.size > 0) await connection.subscribe(...channels)
    } catch (error) {
      signal.removeEventListener('abort', disconnect)
      // After its end, a call would start a timer that keeps the process alive.
      if (connection.status !== 'end') disconnect()
      throw error
    }
    connection.on('end', () => {
      signal.removeEventListener('abort', disconnect)
      if (signal.aborted) return
      connecting = reconnect()
      // The promise rejects when the store is closed. Other failures were already reported.
      connecting.catch(() => {})
    })
    return connection
  }

  async function reconnect(): Promise<IoRedisSubscriber> {
    for (let delay = FIRST_DELAY; ; delay = Math.min(delay * 2, LAST_DELAY)) {
      await pause(delay, signal)
      signal.throwIfAborted()
      try {
        const connection = await connect()
        onReconnect()
        return connection
      } catch (error) {
        onError(error as Error)
      }
    }
  }

  await connecting
  return {
    async subscribe(channel) {
      await (await connecting).subscribe(channel)
      channels.add(channel)
    },
    async unsubscribe(channel) {
      channels.delete(channel)
      await (await connecting).unsubscribe(channel)
    },
  }
}
