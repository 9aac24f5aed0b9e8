/** The options of `tasks()`. */

import { LONGEST_TIMER, refuseUnknownOption, SHARE_PER_CALLER, type Store, withDefaultLimits } from '@mcpx/protocol'

/** Limits of tasks. */
export interface TaskLimits {
  /**
   * The most tasks that one process creates and that are still kept, running or ended. Beyond it, an `auto` tool responds without
   * a task, and a `required` one with an error. Default: 10,000.
   */
  readonly tasks: number
  /** The share of `tasks` that one caller may have, from 0 to 1; at least 16 tasks. Default: 0.25. */
  readonly perCaller: number
  /**
   * The most characters of one task as JSON: its arguments, questions, answers, steps and result. A step beyond it throws, and a
   * task whose result is beyond it fails. Default: 1,048,576.
   */
  readonly data: number
  /** The most questions of one task that are open at the same time. Default: 100. */
  readonly questions: number
  /** The most tasks that one `subscriptions/listen` request subscribes to. Default: 1,000. */
  readonly subscriptions: number
  /** The most times that a task is resumed. Then it fails, because its handler may crash every process. Default: 10. */
  readonly resumptions: number
}

/** The default limits of tasks. */
export const TASK_LIMITS: TaskLimits = {
  tasks: 10_000,
  perCaller: SHARE_PER_CALLER,
  data: 1_048_576,
  questions: 100,
  subscriptions: 1_000,
  resumptions: 10,
}

/** Options of `tasks`. */
export interface TasksOptions {
  /**
   * How long an `auto` tool may run before its call becomes a task, in ms. A call that ends earlier gets a plain response.
   * Default: 200.
   */
  readonly inlineTime?: number | undefined
  /**
   * How long a task is kept from its creation on, in ms. A task that is still working then fails. Default: 3,600,000; at most
   * 2,147,483,647.
   */
  readonly ttl?: number | undefined
  /** The interval at which clients are asked to poll, in ms. Faster polls are not refused. Default: 1,000. */
  readonly pollInterval?: number | undefined
  /**
   * How long a process works on a task without renewing its lease before another one claims the task, in ms. It is renewed three
   * times in this time. Default: 30,000.
   */
  readonly lease?: number | undefined
  /** Stores the tasks, with a bus for changes. Default: the `store` of the server, or the memory of this process. */
  readonly store?: Pick<Store, 'tasks' | 'bus'> | undefined
  /** Limits that differ from `TASK_LIMITS`. */
  readonly limits?: Partial<TaskLimits> | undefined
}

/** The options with their defaults, except for the store. */
export interface TaskSettings extends Required<{ readonly [Name in Durations]: number }> {
  readonly limits: TaskLimits
}

type Durations = 'inlineTime' | 'ttl' | 'pollInterval' | 'lease'

/** Completes the options with defaults. Throws a `TypeError` or a `RangeError` that names an invalid one. */
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
