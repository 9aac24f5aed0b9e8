/** Publishes changes of lists and resources, and distributes them to many or slow clients. */

import type { Awaitable, Change, EventBus, Handler, JsonObject } from '@mcpx/protocol'
import { capabilitiesOf, LIST_KINDS } from './dispatch.ts'
import { SharedChanges } from './shared-changes.ts'

/** Returns the notification for a change. */
export function changeNotification(change: Change): { method: string; params?: JsonObject } {
  return change.kind === 'resource'
    ? { method: 'notifications/resources/updated', params: { uri: change.uri } }
    : { method: `notifications/${change.kind}/list_changed` }
}

/** Publishes changes to the listeners of `Handler.changes`. Each is a new function that never throws. */
export class ChangeFeed {
  readonly #listeners = new Set<(change: Change) => void>()
  readonly #pendingLists = new Set<string>()

  /** Calls all listeners synchronously. */
  publish(change: Change): void {
    for (const listener of this.#listeners) listener(change)
  }

  /**
   * Publishes a change of a list at the end of the current task. Several changes of one list in a task are published once.
   * Listeners that subscribe within the task are not called, because they read the list after the change.
   */
  publishList(kind: (typeof LIST_KINDS)[number]): void {
    if (this.#pendingLists.has(kind) || this.#listeners.size === 0) return
    this.#pendingLists.add(kind)
    queueMicrotask(() => {
      this.#pendingLists.delete(kind)
      this.publish({ kind })
    })
  }

  /** Calls the listener with each change until the returned function is called. */
  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}

/** A client that receives changes. An open stream costs little more than this object. */
export interface ChangeReceiver {
  /** Whether the client is still receiving earlier messages. Changes then wait. */
  isBusy: boolean
  /** The waiting changes. Each changed list or resource is kept once, which limits their number. */
  waiting: Map<string, Change> | undefined
  /** Returns whether the client wants the change. Called right before the change is sent. */
  wants(change: Change): boolean
  /** The URIs of the resources that the client has subscribed to. */
  readonly uris: readonly string[]
  /** Sends a change. Resolves when the next change can be sent. */
  send(change: Change): Awaitable<void>
  /** Called when the server is closed. */
  end?(): void
}

/**
 * Called with a change. `isShared` says whether the source of the change already notifies all processes of the server.
 * Default: false.
 */
type ChangeListener = (change: Change, isShared?: boolean) => void

/**
 * Distributes the changes of all parts of a server. All receivers share one subscription per part. With a bus, the changes
 * are also distributed to the other processes of the server.
 */
export class ChangeHub {
  readonly #parts: readonly Handler[]
  readonly #onError: (error: unknown) => void
  readonly #receivers = new Set<ChangeReceiver>()
  /** Called synchronously with each change. */
  readonly #listeners = new Set<{ readonly listener: ChangeListener }>()
  readonly #shared: SharedChanges | undefined
  /** The changes of the current task. Several changes of one list are sent once. */
  readonly #changed = new Map<string, Change>()
  /** The functions that unsubscribe from each part. */
  readonly #subscribed = new Map<Handler, () => void>()
  /**
   * Whether the server has begun to handle messages. Before that, list changes are not published, because they are
   * registrations at startup.
   */
  isServing = false
  #isClosed = false

  /**
   * @param parts the array of parts, to which parts may be added later; read when the first receiver is added, and in `onPartAdded`
   * @param onError called with errors of parts, receivers and the bus
   * @param bus connects the processes of the server
   */
  constructor(parts: readonly Handler[], onError: (error: unknown) => void, bus?: EventBus) {
    this.#parts = parts
    this.#onError = onError
    if (bus === undefined) return
    this.#shared = new SharedChanges(bus, {
      onChange: (change) => this.#note(change, true),
      onGap: () => this.#noteAll(),
      onError,
    })
    this.#attempt(() => this.#subscribeToParts())
  }

  /** Adds a receiver. If there is only one part and it throws on subscription, the error is rethrown. */
  add(receiver: ChangeReceiver): void {
    this.#subscribeOnFirst()
    this.#receivers.add(receiver)
  }

  /** Connects to the bus. Returns a promise if the changes of other processes are not received yet. */
  connect(): Promise<void> | undefined {
    return this.#shared?.connect()
  }

  remove(receiver: ChangeReceiver): void {
    if (this.#receivers.delete(receiver)) this.#unsubscribeAfterLast()
  }

  /** Calls the listener synchronously with each change until the returned function is called. Throws like `add`. */
  readonly onChange = (listener: ChangeListener): (() => void) => {
    this.#subscribeOnFirst()
    this.connect()?.catch(this.#onError)
    const entry = { listener }
    this.#listeners.add(entry)
    return () => {
      if (this.#listeners.delete(entry)) this.#unsubscribeAfterLast()
    }
  }

  /** Subscribes to an added part, and notifies receivers once per task that the lists of the part have changed. */
  onPartAdded(part: Handler): void {
    if (!this.#isUsed && this.#shared === undefined) return
    this.#attempt(() => this.#subscribeToParts())
    queueMicrotask(() => {
      const added = capabilitiesOf(part, false)
      for (const kind of LIST_KINDS) if (added[kind]) this.#note({ kind })
    })
  }

  /** Sends the changes that waited while the receiver was busy. */
  resume(receiver: ChangeReceiver): void {
    receiver.isBusy = false
    if (receiver.waiting !== undefined) void this.#sendWaiting(receiver)
  }

  /** Notifies a receiver that everything may have changed. */
  sendAll(receiver: ChangeReceiver): void {
    const lists = this.#listKinds().map((kind) => ({ kind }))
    const resources = receiver.uris.map((uri) => ({ kind: 'resource', uri }) as const)
    this.#enqueue(receiver, [...lists, ...resources])
  }

  /** Ends all receivers that have an `end` method, and the subscriptions to the bus and to parts without other receivers. */
  close(): void {
    this.#isClosed = true
    this.#shared?.close()
    for (const receiver of this.#receivers) this.#attempt(() => receiver.end?.())
    this.#unsubscribeAfterLast()
  }

  get #isUsed(): boolean {
    return this.#receivers.size > 0 || this.#listeners.size > 0
  }

  #subscribeOnFirst(): void {
    if (!this.#isUsed) this.#subscribeToParts()
  }

  #unsubscribeAfterLast(): void {
    // With a bus, the changes of the parts are published until the server is closed.
    if (this.#isUsed || (this.#shared !== undefined && !this.#isClosed)) return
    for (const unsubscribe of this.#subscribed.values()) this.#attempt(unsubscribe)
    this.#subscribed.clear()
  }

  #subscribeToParts(): void {
    for (const part of this.#parts) {
      if (this.#subscribed.has(part) || part.changes === undefined) continue
      const subscribe = () => {
        // Pass a new function to each part, because parts may share one `Set` of listeners.
        const unsubscribe = part.changes?.((change, isShared) => this.#note(change, isShared))
        this.#subscribed.set(part, unsubscribe ?? (() => {}))
      }
      if (this.#parts.length === 1) subscribe()
      else this.#attempt(subscribe)
    }
  }

  #note(change: Change, isShared = false): void {
    if (this.#changed.size === 0) queueMicrotask(() => this.#distribute())
    this.#changed.set(keyOf(change), change)
    if (!isShared && (this.isServing || change.kind === 'resource')) this.#shared?.publish(change)
    const isPublished = isShared || this.#shared !== undefined
    for (const { listener } of [...this.#listeners]) {
      this.#attempt(() => (isPublished ? listener(change, true) : listener(change)))
    }
  }

  /** Notifies all receivers and listeners that everything may have changed, because changes of other processes were lost. */
  #noteAll(): void {
    for (const kind of this.#listKinds())
      for (const { listener } of [...this.#listeners]) this.#attempt(() => listener({ kind }, true))
    for (const receiver of this.#receivers) this.#attempt(() => this.sendAll(receiver))
  }

  /** Returns the kinds of lists that the server supports. */
  #listKinds() {
    const capabilities = this.#parts.map((part) => capabilitiesOf(part, false))
    return LIST_KINDS.filter((kind) => capabilities.some((each) => each[kind] !== undefined))
  }

  #distribute(): void {
    const changes = [...this.#changed.values()]
    this.#changed.clear()
    for (const receiver of this.#receivers) this.#attempt(() => this.#enqueue(receiver, changes))
  }

  #enqueue(receiver: ChangeReceiver, changes: readonly Change[]): void {
    const wanted = changes.filter((change) => receiver.wants(change))
    if (wanted.length === 0) return
    receiver.waiting ??= new Map()
    for (const change of wanted) receiver.waiting.set(keyOf(change), change)
    if (!receiver.isBusy) void this.#sendWaiting(receiver)
  }

  async #sendWaiting(receiver: ChangeReceiver): Promise<void> {
    receiver.isBusy = true
    for (const [key, change] of receiver.waiting ?? []) {
      receiver.waiting?.delete(key)
      try {
        if (receiver.wants(change)) await receiver.send(change)
      } catch (error) {
        this.#onError(error)
      }
    }
    receiver.waiting = undefined
    receiver.isBusy = false
  }

  #attempt(step: () => void): void {
    try {
      step()
    } catch (error) {
      this.#onError(error)
    }
  }
}

function keyOf(change: Change): string {
  return change.kind === 'resource' ? `resource ${change.uri}` : change.kind
}
