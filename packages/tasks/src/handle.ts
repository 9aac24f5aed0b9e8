/** Access to a task from any process, for example from a queue worker or a script of an operator. */

import {
  type Ask,
  CallToolResult,
  check,
  ErrorCode,
  type ErrorObject,
  type JsonObject,
  kindOf,
  RpcError,
  type TaskStatus,
} from '@mcpx/protocol'
import { askUntilValid } from '@mcpx/server'
import { LiveTask, TaskEnded } from './live-task.ts'
import { changed, ended, hasEnded, hasExpired, type TaskData, type TaskEnd, toTaskResult } from './record.ts'
import type { TaskRecords } from './records.ts'
import { failed, openQuestion } from './run.ts'

/** The state of a task. */
export interface TaskState {
  /** The status. */
  readonly status: TaskStatus
  /** The message of the last report. For a failed task, the reason of the failure. */
  readonly statusMessage: string | undefined
  /** The name of the tool that was called. */
  readonly tool: string
  /** When the task was created. */
  readonly createdAt: Date
  /** The result of a completed task. */
  readonly result: JsonObject | undefined
  /** The error of a failed task. */
  readonly error: ErrorObject | undefined
}

/**
 * Access to a task for a process that does not run its handler. It can report progress, ask questions, and end the
 * task.
 */
export interface TaskHandle {
  /** The id of the task. */
  readonly id: string
  /** Returns the state of the task, or undefined if there is no such task. */
  state(): Promise<TaskState | undefined>
  /** Sets the message that the user sees. Returns false if the task has ended; stop the work then. */
  report(message: string): Promise<boolean>
  /**
   * Asks the client, and returns the answer: `handle.ask('size', elicit({ message, schema }))`. The key identifies the
   * question in all processes. If the key was used before, the stored answer is returned. Rejects with `TaskEnded` if
   * the task ends.
   */
  ask<Answer>(
    key: string,
    question: Ask<Answer>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<Answer>
  /** Completes the task with a result; a string becomes text content. Returns false if the task has ended already. */
  complete(result: string | CallToolResult): Promise<boolean>
  /** Ends the task with a JSON-RPC error; a string becomes its message. Returns false if the task has ended already. */
  fail(error: string | RpcError): Promise<boolean>
  /** Cancels the task, and aborts its handler. Returns false if the task has ended already. */
  cancel(): Promise<boolean>
}

/** The time between two reads of a task that waits for an answer, in ms. Usually, the bus announces the answer earlier. */
const POLL_INTERVAL = 2_000

export function createHandle(id: string, records: TaskRecords, maxQuestions: number): TaskHandle {
  /** Changes the task. Returns false if the task has ended. */
  async function change(apply: (data: TaskData) => TaskData): Promise<boolean> {
    let isChanged = false
    await records.change(id, (task) => {
      isChanged = !hasEnded(task.data) && !hasExpired(task)
      return isChanged ? apply(task.data) : undefined
    })
    return isChanged
  }

  const end = (last: TaskEnd) => change((data) => ended(data, last))

  return {
    id,
    async state() {
      const data = (await records.get(id))?.data
      if (data === undefined) return undefined
      const { status, statusMessage, tool, createdAt, result, error } = data
      return { status, statusMessage, tool, createdAt: new Date(createdAt), result, error }
    },
    async report(statusMessage) {
      expectKind('report', 'string', statusMessage)
      return change((data) => changed(data, { statusMessage }))
    },
    async ask(key, question, { signal } = {}) {
      expectKind('ask, key', 'string', key)
      expectKind('ask, question', 'object', question?.request)
      const task = await records.get(id)
      if (task === undefined) throw new TaskEnded('unknown')
      const live = new LiveTask(records, task)
      const stop = () => live.end('lost')
      signal?.addEventListener('abort', stop, { once: true })
      const timer = setInterval(() => void live.refresh(), POLL_INTERVAL)
      try {
        // If the bus is unavailable, the timer reads the answer.
        await live.open().catch(() => {})
        await live.refresh()
        signal?.throwIfAborted()
        return await askUntilValid(question, async (request, attempt) => {
          const name = attempt === 1 ? key : `${key}#${attempt}`
          await live.change((data) => openQuestion(data, name, request, maxQuestions))
          return live.until(({ responses }) => (Object.hasOwn(responses, name) ? responses[name] : undefined))
        })
      } catch (error) {
        signal?.throwIfAborted()
        throw error
      } finally {
        clearInterval(timer)
        signal?.removeEventListener('abort', stop)
        live.end('lost')
      }
    },
    complete: async (result) => end({ status: 'completed', result: toTaskResult(toResult(result)) }),
    async fail(error) {
      const sent = typeof error === 'string' ? new RpcError(ErrorCode.InternalError, error) : error
      if (sent instanceof RpcError) return end(failed(sent))
      // Do not send the message of any other error, because it may contain a secret.
      const found = (error as unknown) instanceof Error ? (error as Error).name : kindOf(error)
      throw new TypeError(`handle.fail: expected a message for the client or an RpcError, got ${found}`)
    },
    cancel: () => end({ status: 'cancelled' }),
  }
}

function toResult(result: string | CallToolResult): CallToolResult {
  if (typeof result === 'string') return { content: [{ type: 'text', text: result }] }
  const { problem } = check(CallToolResult, result, 'result')
  if (problem === undefined) return result
  throw new TypeError(`handle.complete: ${problem}`)
}

function expectKind(place: string, kind: string, value: unknown): void {
  if (kindOf(value) !== kind) throw new TypeError(`handle.${place}: expected ${kind}, got ${kindOf(value)}`)
}
