/** The types of cases: the subjects to measure, their baselines, and the targets. Cases are data. */
import type { Job } from './driver/job.ts'

/** An operation that is repeated and timed, in a separate process. */
export interface Work {
  /** Runs the operation once. Its result is checked before and after the measurement. */
  readonly call: () => unknown
  readonly isRight: (result: unknown) => boolean
  /** The number of characters that one call processes. If set, the throughput is reported. */
  readonly characters?: number | undefined
}

/** A row of a table of times. */
export interface Subject {
  readonly name: string
  readonly says: string
  readonly maker?: Maker | undefined
  /** The baseline by whose time the time is divided. If undefined, the subject is a baseline itself. */
  readonly against?: string | undefined
  /** The target: the maximum ratio. If undefined, the ratio is only reported. */
  readonly atMost?: number | undefined
  /** Imports heavy modules, so that they affect only this subject. */
  readonly prepare: () => Work | Promise<Work>
}

export interface SpeedCase {
  readonly kind: 'speed'
  readonly name: string
  readonly says: string
  readonly subjects: readonly Subject[]
  /** The title of its line in the summary. Default: none. */
  readonly summary?: string | undefined
}

/** The implementation, for the summary. */
export type Maker = 'ours' | 'bare' | 'official 2' | 'official 1' | 'mcp-lite' | 'tmcp'

/** A row of a table of sizes: a typical program, which is bundled. */
export interface Entry {
  readonly name: string
  readonly code: string
  /** The description that replaces its code in the table. */
  readonly says?: string | undefined
  /** Default: ours. */
  readonly maker?: Maker | undefined
  /** The target: the maximum size, minified and gzipped, in bytes. If undefined, the size is only reported. */
  readonly atMost?: number | undefined
  /**
   * The program is a server for the edge: its complete size counts, and it is called once. If undefined, only the
   * initially loaded size counts.
   */
  readonly isServer?: 'legacy' | 'modern' | undefined
  /** Modules that are not resolved and are never loaded. */
  readonly leaveOut?: readonly string[] | undefined
}

export interface SizeCase {
  readonly kind: 'size'
  readonly name: string
  readonly says: string
  readonly entries: readonly Entry[]
}

/** A contestant that a driver measures. */
export interface Contestant {
  readonly name: string
  readonly says: string
  readonly maker: Maker
  /** The baseline contestant. If undefined, the contestant is a baseline itself. */
  readonly against?: string | undefined
  /** The targets by column name. */
  readonly targets?: Readonly<Record<string, Target>> | undefined
  readonly job: (options: RunOptions) => Job
}

export interface Target {
  readonly atLeast?: number | undefined
  readonly atMost?: number | undefined
}

/** A column of a table of driver measurements. */
export interface Column {
  readonly head: string
  /** The name of the shown number. */
  readonly of: string
  /** The comparison with the baseline in the same round: none, the ratio, or the difference. Default: none. */
  readonly as?: 'value' | 'ratio' | 'above' | undefined
  readonly digits: number
  /** The name in the summary. Default: not shown. */
  readonly summary?: string | undefined
}

export interface ServedCase {
  readonly kind: 'served'
  readonly name: string
  readonly says: string
  readonly contestants: readonly Contestant[]
  readonly columns: readonly Column[]
  readonly notes?: readonly string[] | undefined
  /** The maximum number of rounds, for stable measurements. */
  readonly mostRounds?: number | undefined
}

/** A case with its own measurement. */
export interface OwnCase {
  readonly kind: 'own'
  readonly name: string
  readonly says: string
  readonly find: (options: RunOptions) => Promise<Findings>
}

export type Case = SpeedCase | SizeCase | ServedCase | OwnCase

/** Whether a target was met. */
export interface Verdict {
  readonly name: string
  readonly met: boolean
  /** `1.07 × bare-json, at most 1.2`. */
  readonly says: string
}

/** The results of a case. */
export interface Findings {
  readonly name: string
  readonly says: string
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** Notes about this run. */
  readonly notes: readonly string[]
  readonly verdicts: readonly Verdict[]
  readonly summary?: readonly SummaryLine[] | undefined
  /** The images in the notes, by name. */
  readonly files?: Readonly<Record<string, string>> | undefined
  /** All measurements, for the JSON file. */
  readonly data: unknown
}

/** A line of the summary in the README. */
export interface SummaryLine {
  readonly what: string
  readonly cells: Readonly<Partial<Record<Maker, string>>>
}

export interface RunOptions {
  readonly rounds: number
  readonly isQuick: boolean
  /** The warm-up time of a subject, in milliseconds. */
  readonly warmUp: number
  /** The measured time, in milliseconds. */
  readonly duration: number
  /** Called with the progress of the run. */
  readonly note: (text: string) => void
}
