/** What a case is: things to measure, the bare limit each is held against, and the targets. Cases are data. */
import type { Job } from './driver/job.ts'

/** Something that is repeated and timed, set up in a process of its own. */
export interface Work {
  /** Does it once. What it returns, or resolves to, is checked before and after the measurement. */
  readonly call: () => unknown
  readonly isRight: (result: unknown) => boolean
  /** How many characters of text one call deals with. Given, the throughput is reported. */
  readonly characters?: number | undefined
}

/** One line of a table of times. */
export interface Subject {
  readonly name: string
  readonly says: string
  readonly maker?: Maker | undefined
  /** The subject its time is divided by. Absent: it is a bare limit itself. */
  readonly against?: string | undefined
  /** Target: the most this ratio may be. Absent: it is only reported. */
  readonly atMost?: number | undefined
  /** Heavy modules are imported in here, so that they burden this subject alone. */
  readonly prepare: () => Work | Promise<Work>
}

export interface SpeedCase {
  readonly kind: 'speed'
  readonly name: string
  readonly says: string
  readonly subjects: readonly Subject[]
  /** What its line of the summary says that it is, if it has one. */
  readonly summary?: string | undefined
}

/** Who made what is measured, for the summary. */
export type Maker = 'ours' | 'bare' | 'official 2' | 'official 1' | 'mcp-lite' | 'tmcp'

/** One line of a table of sizes: a program that somebody could have written, and what becomes of it in a bundle. */
export interface Entry {
  readonly name: string
  readonly code: string
  /** Shown in the place of its code. */
  readonly says?: string | undefined
  /** Default: ours. */
  readonly maker?: Maker | undefined
  /** Target: the most it may weigh, minified and gzipped, in bytes. Absent: it is only reported. */
  readonly atMost?: number | undefined
  /** A server for the edge: what it weighs is all of it, and it is called once. Absent: what is loaded at first counts. */
  readonly isServer?: 'legacy' | 'modern' | undefined
  /** What cannot be found and is never loaded. */
  readonly leaveOut?: readonly string[] | undefined
}

export interface SizeCase {
  readonly kind: 'size'
  readonly name: string
  readonly says: string
  readonly entries: readonly Entry[]
}

/** One who is measured by a driver. */
export interface Contestant {
  readonly name: string
  readonly says: string
  readonly maker: Maker
  /** The contestant that it is held against. Absent: it is a bare limit itself. */
  readonly against?: string | undefined
  /** By the head of a column, what its figure there is to be. */
  readonly targets?: Readonly<Record<string, Target>> | undefined
  readonly job: (options: RunOptions) => Job
}

export interface Target {
  readonly atLeast?: number | undefined
  readonly atMost?: number | undefined
}

/** One column of a table of what drivers have measured. */
export interface Column {
  readonly head: string
  /** The number of the sample that it shows. */
  readonly of: string
  /** As it is; divided by that of the one it is held against, in the same round; or less that. Default: as it is. */
  readonly as?: 'value' | 'ratio' | 'above' | undefined
  readonly digits: number
  /** Shown in the summary, by this name. */
  readonly summary?: string | undefined
}

export interface ServedCase {
  readonly kind: 'served'
  readonly name: string
  readonly says: string
  readonly contestants: readonly Contestant[]
  readonly columns: readonly Column[]
  readonly notes?: readonly string[] | undefined
  /** How often each is measured, at most: where one time says as much as five. */
  readonly mostRounds?: number | undefined
}

/** A case that knows by itself how to find out. */
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

/** What a case has found. */
export interface Findings {
  readonly name: string
  readonly says: string
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** What a reader of the table has to know of this run. */
  readonly notes: readonly string[]
  readonly verdicts: readonly Verdict[]
  readonly summary?: readonly SummaryLine[] | undefined
  /** Pictures that the notes show, by their names. */
  readonly files?: Readonly<Record<string, string>> | undefined
  /** Every measurement, for the JSON file. */
  readonly data: unknown
}

/** One line of the summary in the first README. */
export interface SummaryLine {
  readonly what: string
  readonly cells: Readonly<Partial<Record<Maker, string>>>
}

export interface RunOptions {
  readonly rounds: number
  readonly isQuick: boolean
  /** How long a subject runs before it is timed, in ms. */
  readonly warmUp: number
  /** How long it is timed, in ms. */
  readonly duration: number
  /** Hears how far the run is. */
  readonly note: (text: string) => void
}
