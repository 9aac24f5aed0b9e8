/** Tasks: calls of tools that outlive their connection and their process. */

export type { TaskHandle, TaskState } from './handle.ts'
export { TaskEnded, type TaskEndReason, type TaskFailureReason } from './live-task.ts'
export { TASK_LIMITS, type TaskLimits, type TasksOptions } from './options.ts'
export { continueAsTask, type StartedTask } from './run.ts'
export { type TasksExtension, tasks } from './tasks.ts'

declare module '@mcpx/server' {
  interface ExtensionToolOptions {
    /**
     * Whether calls become tasks of clients that support them. `auto`: a call that takes longer than `inlineTime`, or calls
     * `continueAsTask`, becomes a task; other clients wait for the response. `required`: every call is a task from its beginning
     * on; clients without tasks receive an error. Needs `tasks()`. Default: `never`.
     */
    task?: 'auto' | 'required' | 'never' | undefined
    /**
     * Whether another process continues a task when its process dies or is stopped. The handler then runs again: steps that had
     * finished return their results, and answers are kept, so wrap side effects in `ctx.step`. Needs `tasks()`. Default: false;
     * such a task fails.
     */
    resumable?: boolean | undefined
  }
}
