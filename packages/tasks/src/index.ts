/** Tasks: calls of tools that outlive their connection and their process. */

export type { TaskHandle, TaskState } from './handle.ts'
export { TaskEnded, type TaskEndReason, type TaskFailureReason } from './live-task.ts'
export { TASK_LIMITS, type TaskLimits, type TasksOptions } from './options.ts'
export { continueAsTask, type StartedTask } from './run.ts'
export { type TasksExtension, tasks } from './tasks.ts'

declare module '@mcpx/server' {
  interface ExtensionToolOptions {
    /**
     * Whether calls of the tool become tasks. `auto`: a call becomes a task if it takes longer than `inlineTime`, or
     * when the handler calls `continueAsTask`; clients that do not support tasks wait for the response. `required`:
     * every call is a task from the beginning; clients that do not support tasks receive an error. Needs the extension
     * `tasks()`. Default: `never`.
     */
    task?: 'auto' | 'required' | 'never' | undefined
    /**
     * Whether another process resumes a task if its process crashes or is stopped. The handler then runs again, and
     * finished steps and answered questions return their stored values, so wrap side effects in `ctx.step`. Needs the
     * extension `tasks()`. Default: false; then the task fails.
     */
    resumable?: boolean | undefined
  }
}
