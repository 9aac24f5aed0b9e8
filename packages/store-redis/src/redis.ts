/** The options of a store in Redis, and its commands, which have a time limit. */

import { type Connection, connectionOf, type RedisClient } from './clients.ts'

/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /** The prefix of the name of every key and channel. Servers with different state need different prefixes. Default: `mcpx:`. */
  readonly prefix?: string | undefined
  /**
   * How long a command may take, in ms, including the time in which the client reconnects. Then the call fails.
   * Default: 5,000.
   */
  readonly timeout?: number | undefined
  /** How long a stream is kept after its last event, replay or refresh, in ms. Default: 300,000. */
  readonly eventTtl?: number | undefined
  /**
   * The largest number of events that are kept per stream, rounded up by Redis to about a hundred. Older events are
   * dropped, and streams cannot be resumed from them. Default: 1,000.
   */
  readonly maxEvents?: number | undefined
  /** Called with lost connections and errors of listeners. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
}

/** Redis did not reply in time, or refused a command. It is unknown whether a failed call has stored its data. */
export class RedisStoreError extends Error {
  override readonly name = 'RedisStoreError'
  /**
   * Whether the same request may succeed later: Redis could not be reached, is starting, busy or failing over. Transports
   * respond with 503 and `Retry-After` then. False for commands that Redis refuses, for example because it is full.
   */
  readonly retryable: boolean

  constructor(message: string, { retryable = true, cause }: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.retryable = retryable
  }
}

/** Matches the first word of an error that Redis has sent. Errors of connections begin differently. */
const REPLIED = /^([A-Z]{3,})\b/
/** The text that Redis 6.2 puts before the error of a command in a script. */
const IN_SCRIPT = /^ERR Error running script \(call to \w+\): @user_script:\d+: (?:@user_script: \d+: -?)?/
/** An error of a script whose user lacks a permission. Its first word is ERR. */
const NOT_PERMITTED = /can't run this command|ACL failure in script/
const TEMPORARY = new Set(['BUSY', 'CLUSTERDOWN', 'LOADING', 'MASTERDOWN', 'NOREPLICAS', 'TRYAGAIN'])
const REMEDIES: Readonly<Record<string, string>> = {
  NOAUTH: 'Give the client a user and a password',
  NOPERM: 'Give the user of the client the right to run this command on keys and channels that begin with `prefix`',
  OOM: 'Redis is full: raise its `maxmemory`, or shorten the times to live',
  READONLY: 'Connect the client to the primary server: this one is a replica',
  WRONGPASS: 'Give the client a valid user and password',
  WRONGTYPE: 'Another program uses this key: choose another `prefix`',
}

/** Returns the error of a command that Redis has refused, or that has not reached it. */
function failureOf(name: string, cause: unknown): RedisStoreError {
  const reply = cause instanceof Error ? cause.message : String(cause)
  const message = reply.replace(IN_SCRIPT, '')
  const [, first] = REPLIED.exec(message) ?? REPLIED.exec(reply) ?? []
  const code = first === 'ERR' && NOT_PERMITTED.test(message) ? 'NOPERM' : first
  // Clients throw a TypeError for arguments that they cannot send.
  const retryable = code === undefined ? !(cause instanceof TypeError) : TEMPORARY.has(code)
  const remedy = code !== undefined && Object.hasOwn(REMEDIES, code) ? `. ${REMEDIES[code]}` : ''
  return new RedisStoreError(`${name}: ${message.replace(/\.$/, '')}${remedy}`, { retryable, cause })
}

/** Returns a time in ms as Redis accepts it: a whole number. `Infinity` becomes 285,000 years. */
export function wholeMs(ms: number): number {
  return Math.min(Math.ceil(ms), Number.MAX_SAFE_INTEGER)
}

/** Sends the commands of a store. */
export class Redis {
  readonly connection: Connection
  readonly prefix: string
  readonly onWarning: (warning: Error) => void
  readonly #timeout: number
  /** Reject the commands that wait for a reply. */
  readonly #rejects = new Set<() => void>()
  #isClosed = false

  constructor(client: RedisClient, { prefix = 'mcpx:', timeout = 5_000, onWarning = () => {} }: RedisStoreOptions) {
    this.connection = connectionOf(client)
    this.prefix = prefix
    this.#timeout = timeout
    this.onWarning = onWarning
  }

  /** Sends a command that uses one key. */
  send(name: string, key: string, ...args: readonly (string | number)[]): Promise<unknown> {
    return this.within(name, () => this.connection.send(key, [name, key, ...args.map(String)]))
  }

  /** Runs a Lua script atomically. Its keys must be on one server of a cluster. */
  run(
    script: string,
    key: string | readonly [string, string],
    ...args: readonly (string | number)[]
  ): Promise<unknown> {
    const keys = typeof key === 'string' ? ([key] as const) : key
    const command = ['EVAL', script, String(keys.length), ...keys, ...args.map(String)]
    return this.within('EVAL', () => this.connection.send(keys[0], command))
  }

  publish(channel: string, message: string): Promise<unknown> {
    return this.within('PUBLISH', () => this.connection.publish(channel, message))
  }

  /** Rejects with a `RedisStoreError` if an operation fails, takes longer than the time limit, or if the store is closed. */
  async within<T>(name: string, operate: () => Promise<T>): Promise<T> {
    const closed = () => new RedisStoreError(`${name}: the store was closed`)
    if (this.#isClosed) throw closed()
    let timer: ReturnType<typeof setTimeout> | undefined
    let onClose = () => {}
    const expired = new Promise<never>((_, reject) => {
      onClose = () => reject(closed())
      this.#rejects.add(onClose)
      const text = `${name}: Redis did not reply within ${this.#timeout} ms. Check the connection, or raise \`timeout\``
      timer = setTimeout(() => reject(new RedisStoreError(text)), this.#timeout)
    })
    try {
      return await Promise.race([operate(), expired])
    } catch (error) {
      if (error instanceof RedisStoreError) throw error
      throw failureOf(name, error)
    } finally {
      clearTimeout(timer)
      this.#rejects.delete(onClose)
    }
  }

  /** Rejects the commands that wait for a reply, and all later ones. The client of the caller stays connected. */
  close(): void {
    this.#isClosed = true
    for (const reject of this.#rejects) reject()
  }
}
