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

/** A client of `ioredis`, also of a cluster. */
export interface IoRedisClient {
  /** Sends a command: its name, then its arguments. */
  call(command: string, ...args: string[]): Promise<unknown>
  /** Creates a client with the same settings. */
  duplicate(): IoRedisSubscriber
}

/** The connection of `ioredis` for subscriptions. */
export interface IoRedisSubscriber {
  subscribe(...channels: string[]): Promise<unknown>
  unsubscribe(...channels: string[]): Promise<unknown>
  on(event: string, listener: (first: string & Error, second: string) => void): unknown
  disconnect(): void
}

/** A connected client: of `@redis/client` (or `redis`) 6 or of `ioredis` 6, for one server or a cluster. */
export type RedisClient = NodeRedisClient | NodeRedisCluster | IoRedisClient

/** Called with what arrives on a connection for subscriptions. */
export interface SubscriberListener {
  readonly onMessage: (channel: string, message: string) => void
  /** Called when the connection is back after it was lost. */
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
  /** @param key the key that the command uses, by which a cluster finds the server */
  send(key: string | undefined, args: string[]): Promise<unknown>
  /** @param signal closes the connection, also while it is being opened */
  openSubscriber(listener: SubscriberListener, signal: AbortSignal): Promise<Subscriber>
}

/** Returns the connection of a client. Throws a `TypeError` for a value that is no supported client. */
export function connectionOf(client: RedisClient): Connection {
  if (isIoRedis(client)) return ioRedisConnection(client)
  const isNodeRedis = typeof client === 'object' && client !== null && typeof client.sendCommand === 'function'
  if (!isNodeRedis || typeof client.duplicate !== 'function') {
    throw new TypeError('redisStore: expected a connected client of @redis/client 6 or ioredis 6, got something else')
  }
  return nodeRedisConnection(client)
}

function isIoRedis(client: RedisClient): client is IoRedisClient {
  return typeof (client as Partial<IoRedisClient> | null)?.call === 'function'
}

function isCluster(client: NodeRedisClient | NodeRedisCluster): client is NodeRedisCluster {
  return 'nodeClient' in client
}

function nodeRedisConnection(client: NodeRedisClient | NodeRedisCluster): Connection {
  return {
    send: (key, args) => (isCluster(client) ? client.sendCommand(key, false, args) : client.sendCommand(args)),

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
      // The client subscribes to all channels again before it is ready. A cluster emits it for each of its nodes.
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

function ioRedisConnection(client: IoRedisClient): Connection {
  return {
    send: (_key, [name = '', ...args]) => client.call(name, ...args),

    async openSubscriber({ onMessage, onReconnect, onError }, signal) {
      const subscriber = client.duplicate()
      signal.addEventListener('abort', () => subscriber.disconnect())
      const channels = new Set<string>()
      let wasReady = false
      subscriber.on('error', onError)
      subscriber.on('message', onMessage)
      subscriber.on('ready', () => {
        if (wasReady) void subscribeAgain()
        wasReady = true
      })

      /** The client subscribes again by itself, after it is ready. The reply to this command comes after those. */
      async function subscribeAgain(): Promise<void> {
        try {
          if (channels.size > 0) await subscriber.subscribe(...channels)
          onReconnect()
        } catch (error) {
          // The connection was lost again: the next `ready` follows.
          onError(error as Error)
        }
      }

      return {
        async subscribe(channel) {
          await subscriber.subscribe(channel)
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
