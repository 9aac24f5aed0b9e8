/** The tasks of modern servers: the requests of the extension `io.modelcontextprotocol/tasks`. */

import type { DetailedTask, InputRequest } from '@mcpx/protocol'
import { ConcurrencyLimit, withSignal } from './async.ts'
import { invalidResult } from './era.ts'
import type { ExtensionCall } from './extensions.ts'
import { inputLimitError, MAX_CONCURRENT_INPUT, MAX_INPUT_REQUESTS, MAX_ROUNDS } from './input-requests.ts'
import type { ClientOptions } from './options.ts'
import type { TaskFollower, TaskPeer } from './task-follower.ts'

/**
 * How many streams a client opens for the states of its tasks. The limit exists because browsers allow few connections.
 * Further tasks are only polled.
 */
const MAX_STREAMS = 4
const openStreams = new WeakMap<ClientOptions, number>()

/** One task of a modern server. */
export class ModernTask implements TaskPeer {
  readonly id: string
  readonly #limit = new ConcurrencyLimit(MAX_CONCURRENT_INPUT)
  /** The input requests that are being answered. Aborted when the server withdraws them. */
  readonly #open = new Map<string, AbortController>()
  readonly #answered = new Set<string>()
  #received = 0

  constructor(id: string) {
    this.id = id
  }

  async get(call: ExtensionCall, timeout: number): Promise<DetailedTask> {
    const task = (await call.request('tasks/get', { taskId: this.id }, { timeout })) as unknown as DetailedTask
    if (task.taskId === this.id) return task
    throw invalidResult(`tasks/get of ${call.label}`, 'result.taskId: expected the id of the task, got another one')
  }

  async cancel(call: ExtensionCall): Promise<void> {
    await call.request('tasks/cancel', { taskId: this.id })
  }

  handleInput(task: DetailedTask, follower: TaskFollower): void {
    const inputRequests = task.status === 'input_required' ? task.inputRequests : {}
    for (const [key, controller] of this.#open) if (!Object.hasOwn(inputRequests, key)) controller.abort()
    const added = Object.entries(inputRequests).filter(([key]) => !this.#open.has(key) && !this.#answered.has(key))
    const { maxInputRequests = MAX_INPUT_REQUESTS, maxRounds = MAX_ROUNDS } = follower.call.client
    const count = this.#open.size + added.length
    if (count > maxInputRequests) throw inputLimitError(follower.call.label, count, maxInputRequests)
    this.#received += added.length
    const total = maxInputRequests * maxRounds
    if (this.#received > total) throw inputLimitError(follower.call.label, this.#received, total)
    for (const [key, request] of added) follower.run(() => this.#answer(key, request, follower))
  }

  /** Answers one input request, once. The response is sent immediately, without waiting for other responses. */
  async #answer(key: string, request: InputRequest, follower: TaskFollower): Promise<void> {
    const { call } = follower
    const withdrawn = new AbortController()
    this.#open.set(key, withdrawn)
    const release = follower.hold()
    let response: object
    try {
      response = await this.#limit.run(() =>
        withSignal(
          call.label,
          withdrawn.signal,
          async (signal) => {
            signal.throwIfAborted()
            return call.answer(request, signal, key)
          },
          call.signal,
        ),
      )
    } catch (error) {
      if (withdrawn.signal.aborted) return
      throw error
    } finally {
      release()
      this.#open.delete(key)
    }
    this.#answered.add(key)
    const params = { taskId: this.id, inputResponses: { [key]: response } }
    try {
      await follower.attempt((timeout) => call.request('tasks/update', params, { timeout }))
    } catch (error) {
      this.#answered.delete(key)
      throw error
    }
  }

  watch({ call, push }: TaskFollower): () => boolean {
    const count = openStreams.get(call.client) ?? 0
    if (count >= MAX_STREAMS) return () => false
    openStreams.set(call.client, count + 1)
    const stopListening = call.on('notifications/tasks', (task) => {
      if ((task as DetailedTask).taskId === this.id) push(task as DetailedTask)
    })
    const stream = call.listen({ taskIds: [this.id] }, { signal: call.signal })
    const isFollowed = () => {
      const { taskIds } = (stream.followed ?? {}) as { readonly taskIds?: unknown }
      return stream.isOpen === true && Array.isArray(taskIds) && taskIds.includes(this.id)
    }
    // If the server does not send the states, the stream is not needed.
    stream.ready.then(() => isFollowed() || stream.close()).catch(() => {})
    call.signal.addEventListener('abort', () => {
      stopListening()
      openStreams.set(call.client, (openStreams.get(call.client) ?? 1) - 1)
    })
    return isFollowed
  }
}
