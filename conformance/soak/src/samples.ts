/** The measurements of a run. */

import type { Held } from './processes.ts'
import type { Resources } from './resources.ts'
import type { Problems } from './server.ts'
import type { Failure } from './tally.ts'

/** The durations of plain calls on connections without faults, in ms. */
export interface Latency {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly p999: number
}

/** A measurement, taken while no operation ran. */
export interface Sample {
  /** The time of the sample, in ms since the beginning of the load. */
  readonly at: number
  /** The number of operations since the beginning. */
  readonly operations: number
  /** The number of operations per second since the last sample. */
  readonly throughput: number
  /** The durations of the operations since the last sample. Undefined if there were no operations. */
  readonly latency: Latency | undefined
  /** The messages that the steady server has handled since the beginning. */
  readonly messages: number | undefined
  /** What the clients hold at the steady server. */
  readonly held: Held | undefined
  /** The resources of each process by its name. */
  readonly processes: Readonly<Record<string, Resources>>
}

/** The result of a run. */
export interface Recording {
  readonly samples: readonly Sample[]
  /** The resources of each process before the first connection, and after the last connection. */
  readonly rest: Readonly<Record<string, { readonly before: Resources; readonly after: Resources }>>
  /** The number of handlers that run at the end. */
  readonly running: number
  /** What the server holds for clients after the last one. */
  readonly held: Held
  /** The number of operations by name and by outcome. */
  readonly outcomes: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly failed: number
  /** The first failures. */
  readonly failures: readonly Failure[]
  /** The number of changes, and the longest time until all listeners had received a change, in ms. */
  readonly changes: { readonly made: number; readonly longestDelay: number }
  /** The warnings and errors that servers and clients have reported. */
  readonly problems: { readonly server: Problems; readonly clients: Problems }
  /** The number of operations that did not end. */
  readonly lost: number
  /** Why the server that is not killed on purpose has exited. Undefined if it still runs. */
  readonly exit: string | undefined
}

/** Returns the percentiles of ascending durations. */
export function latencyOf(durations: readonly number[]): Latency | undefined {
  if (durations.length === 0) return undefined
  const at = (part: number) => {
    const value = durations[Math.min(durations.length - 1, Math.floor(durations.length * part))] as number
    return Math.round(value * 100) / 100
  }
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), p999: at(0.999) }
}

/** The handles of a process, all kinds together. */
export function countHandles({ handles }: Resources): number {
  return Object.values(handles).reduce((sum, count) => sum + count, 0)
}
