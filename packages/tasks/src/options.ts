/** The options of `tasks()`. */

import { LONGEST_TIMER, refuseUnknownOption, SHARE_PER_CALLER, type Store, withDefaultLimits } from '@mcpx/protocol'

/** Limits of tasks. */
export interface TaskLimits {
  /**
   * The largest number of tasks that one process has created and that have not expired. Above this number, a call of an
   * `auto` tool gets a plain response, and a call of a `required` tool an error. Default: 10,000.
   */
  readonly tasks: number
  /**
   * The share of `tasks` and `arguments` that one caller may use, from 0 to 1. The share is never smaller than 16
   * tasks. Default: 0.25.
   */
  readonly perCaller: number
  /**
   * The largest size of a task as JSON, in characters, with its arguments, questions, answers, steps and result. A step
   * that exceeds this size throws, and a result that exceeds it makes the task fail. Default: 1,048,576.
   */
  readonly data: number
  /**
   * The largest size of the arguments of all tasks that one process works on, in bytes, estimated from their JSON.
   * Above this limit, a call of an `auto` tool gets a plain response, and a call of a `required` tool gets an error.
   * Default: 33,554,432.
   */
  readonly arguments: number
  /** The largest number of open questions of one task. Default: 100. */
  readonly questions: number
  /** The largest number of tasks in one `subscriptions/listen` request. Default: 1,000. */
  readonly subscriptions: number
  /** How often a task may be resumed. After that it fails, because its handler may crash every process. Default: 10. */
  readonly resumptions: number
}

/** The default limits of tasks. */
export const TASK_LIMITS: TaskLimits = {
  tasks: 10_000,
  perCaller: SHARE_PER_CALLER,
  data: 1_048_576,
  arguments: 33_554_432,
  questions: 100,
  subscriptions: 1_000,
  resumptions: 10,
}

/** Options of `tasks`. */
export interface TasksOptions {
  /**
   * How long a call of an `auto` tool may run before it becomes a task, in ms. A call that ends earlier gets a plain
   * response. Default: 200.
   */
  readonly inlineTime?: number | undefined
  /**
   * How long a task is kept after its creation, in ms. A task that is still working after this time fails. Default:
   * 3,600,000; at most 2,147,483,647.
   */
  readonly ttl?: number | undefined
  /** The polling interval that is sent to clients, in ms. More frequent polls are not refused. Default: 1,000. */
  readonly pollInterval?: number | undefined
  /**
   * The duration of a lease, in ms. A process renews its leases three times within this duration. If it does not,
   * another process claims the task. Default: 30,000.
   */
  readonly lease?: number | undefined
  /**
   * Stores the tasks, and notifies other processes of changes. Default: the `store` of the server, or the memory of
   * this process.
   */
  readonly store?: Pick<Store, 'tasks' | 'bus'> | undefined
  /** Limits that differ from `TASK_LIMITS`. */
  readonly limits?: Partial<TaskLimits> | undefined
}

/** The options with their defaults, except for the store. */
export interface TaskSettings extends Required<{ readonly [Name in Durations]: number }> {
  readonly limits: TaskLimits
}

type Durations = 'inlineTime' | 'ttl' | 'pollInterval' | 'lease'

/** Completes the options with defaults. Throws a `TypeError` or a `RangeError` that names an invalid option. */
export function readOptions(options: TasksOptions): TaskSettings {
  refuseUnknownOption('tasks', options, ['inlineTime', 'ttl', 'pollInterval', 'lease', 'store', 'limits'])
  const { inlineTime = 200, ttl = 3_600_000, pollInterval = 1_000, lease = 30_000, limits = {} } = options
  for (const [name, value] of Object.entries({ inlineTime, ttl, pollInterval, lease })) {
    const least = name === 'inlineTime' ? 0 : 1
    if (Number.isInteger(value) && value >= least && value <= LONGEST_TIMER) continue
    throw new RangeError(`tasks: ${name}: expected a whole number from ${least} to ${LONGEST_TIMER}, got ${value}`)
  }
  refuseUnknownOption('tasks, limits', limits, Object.keys(TASK_LIMITS))
  return { inlineTime, ttl, pollInterval, lease, limits: withDefaultLimits(TASK_LIMITS, limits) }
}
