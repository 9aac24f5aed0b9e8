/** The event bus: one connection for all subscriptions of the process, and local delivery to their listeners. */

import type { EventBus } from '@mcpx/protocol'
import type { Subscriber, SubscriberListener } from './clients.ts'
import type { Redis } from './redis.ts'

interface Subscription {
  readonly listener: (message: string) => void
  readonly onGap: (() => void) | undefined
}

/** A channel of Redis with its subscriptions in this process. */
interface Channel {
  readonly name: string
  readonly subscriptions: Set<Subscription>
  isSubscribed: boolean
  /** The running update of the subscription at Redis. */
  updating: Promise<void> | undefined
}

/** Sends messages between processes with the publish and subscribe commands of Redis. */
export class RedisEventBus implements EventBus {
  readonly #redis: Redis
  readonly #channels = new Map<string, Channel>()
  #subscriber: Promise<Subscriber> | undefined
  readonly #closing = new AbortController()

  constructor(redis: Redis) {
    this.#redis = redis
  }

  async publish(topic: string, message: string): Promise<void> {
    await this.#redis.publish(this.channelOf(topic), message)
  }

  /** Returns the name of the channel of a topic. */
  channelOf(topic: string): string {
    return `${this.#redis.prefix}bus:${topic}`
  }

  async subscribe(
    topic: string,
    listener: (message: string) => void,
    onGap?: (() => void) | undefined,
  ): Promise<() => Promise<void>> {
    const name = this.channelOf(topic)
    const channel = this.#channels.get(name) ?? {
      name,
      subscriptions: new Set(),
      isSubscribed: false,
      updating: undefined,
    }
    this.#channels.set(name, channel)
    const subscription = { listener, onGap }
    channel.subscriptions.add(subscription)
    const unsubscribe = async () => {
      if (this.#closing.signal.aborted || !channel.subscriptions.delete(subscription)) return
      // Callers do not wait for the end of a subscription at Redis.
      void this.#update(channel).catch(this.#redis.onWarning)
    }
    try {
      await this.#redis.within('SUBSCRIBE', () => this.#update(channel))
    } catch (error) {
      await unsubscribe()
      throw error
    }
    return unsubscribe
  }

  /** Subscribes at Redis while a channel has subscriptions. One command of a channel runs at a time. */
  #update(channel: Channel): Promise<void> {
    channel.updating ??= this.#updateUntilDone(channel)
    return channel.updating
  }

  async #updateUntilDone(channel: Channel): Promise<void> {
    try {
      const subscriber = await this.#connect()
      while (!this.#closing.signal.aborted && channel.isSubscribed !== channel.subscriptions.size > 0) {
        if (channel.isSubscribed) {
          channel.isSubscribed = false
          await subscriber.unsubscribe(channel.name)
        } else {
          await subscriber.subscribe(channel.name)
          channel.isSubscribed = true
        }
      }
    } finally {
      channel.updating = undefined
      // Remove the channel even after a failure. Otherwise one channel per followed stream would remain.
      if (channel.subscriptions.size === 0 && this.#channels.get(channel.name) === channel) {
        this.#channels.delete(channel.name)
      }
    }
  }

  async #connect(): Promise<Subscriber> {
    if (this.#closing.signal.aborted) throw new Error('the store was closed')
    const listener: SubscriberListener = {
      onMessage: (name, message) => this.#deliver(name, ({ listener }) => listener(message)),
      onReconnect: () => {
        this.#redis.onWarning(new Error('The connection for subscriptions was interrupted: messages may be missing'))
        for (const name of [...this.#channels.keys()]) this.#deliver(name, ({ onGap }) => onGap?.())
      },
      onError: this.#redis.onWarning,
    }
    this.#subscriber ??= this.#redis.connection.openSubscriber(listener, this.#closing.signal)
    try {
      return await this.#subscriber
    } catch (error) {
      this.#subscriber = undefined
      throw error
    }
  }

  #deliver(name: string, call: (subscription: Subscription) => void): void {
    for (const subscription of [...(this.#channels.get(name)?.subscriptions ?? [])]) {
      try {
        call(subscription)
      } catch (error) {
        this.#redis.onWarning(
          error instanceof Error ? error : new Error('The thrown value is not an Error', { cause: error }),
        )
      }
    }
  }

  /** Ends all subscriptions and closes their connection. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#channels.clear()
  }
}
