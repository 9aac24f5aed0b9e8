/** What a case is: things to measure, the bare limit each is held against, and the targets. Cases are data. */

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
}

/** One line of a table of sizes: a program that somebody could have written, and what becomes of it in a bundle. */
export interface Entry {
  readonly name: string
  readonly code: string
  /** Target: the most it may weigh, minified and gzipped, in bytes. Absent: it is only reported. */
  readonly atMost?: number | undefined
}

export interface SizeCase {
  readonly kind: 'size'
  readonly name: string
  readonly says: string
  readonly entries: readonly Entry[]
}

export type Case = SpeedCase | SizeCase

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
  /** Every measurement, for the JSON file. */
  readonly data: unknown
}

export interface RunOptions {
  readonly rounds: number
  /** How long a subject runs before it is timed, in ms. */
  readonly warmUp: number
  /** How long it is timed, in ms. */
  readonly duration: number
  /** Hears how far the run is. */
  readonly note: (text: string) => void
}
