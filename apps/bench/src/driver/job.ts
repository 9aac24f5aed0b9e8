/** The jobs of drivers and their results. */
import type { Manner } from './requests.ts'

/** The measured numbers by name. */
export type Sample = Readonly<Record<string, number>>

/** A server over HTTP, and its protocol. */
export interface HttpSubject extends Manner {
  /** The path of the subject, relative to `subjects/`. */
  readonly file: string
  readonly env?: Readonly<Record<string, string>> | undefined
}

/** A process that makes calls and reports its heap size: a server, or a client with its server. */
export interface HeapSubject extends HttpSubject {
  readonly isInMemory?: boolean | undefined
}

export interface PipeSubject {
  readonly file: string
  readonly era: Manner['era']
}

/** The modules that are imported, or bundled into one file that is imported. */
export interface Imports {
  readonly specifiers: readonly string[]
  readonly isBundled?: boolean | undefined
}

/** Times in milliseconds. */
export type Job =
  | {
      readonly kind: 'calls'
      readonly subject: HttpSubject
      readonly inFlight: readonly number[]
      readonly answers: 'json' | 'events'
      readonly warmUp: number
      readonly duration: number
    }
  | { readonly kind: 'setups'; readonly subject: HttpSubject; readonly warmUp: number; readonly duration: number }
  | { readonly kind: 'sessions'; readonly subject: HttpSubject; readonly count: number; readonly withStream: boolean }
  | { readonly kind: 'progress'; readonly subject: HttpSubject; readonly warmUp: number; readonly duration: number }
  | {
      readonly kind: 'payload'
      readonly subject: HttpSubject
      readonly way: 'give' | 'take'
      readonly bytes: number
      readonly warmUp: number
      readonly duration: number
    }
  | { readonly kind: 'first-answer'; readonly subject: HttpSubject; readonly times: number }
  | { readonly kind: 'pipe'; readonly subject: PipeSubject; readonly warmUp: number; readonly duration: number }
  | { readonly kind: 'cold-start'; readonly subject: PipeSubject; readonly times: number }
  | ({ readonly kind: 'imports' } & Imports)
  | ({ readonly kind: 'modules' } & Imports)
  | { readonly kind: 'heap'; readonly subject: HeapSubject; readonly few: number; readonly many: number }
  | { readonly kind: 'allocations'; readonly subject: HeapSubject; readonly warmUp: number; readonly calls: number }
  | { readonly kind: 'leftovers'; readonly subject: HeapSubject; readonly warmUp: number; readonly calls: number }
  | {
      readonly kind: 'fan-out'
      readonly subject: HttpSubject
      readonly streams: number
      readonly times: number
    }
  | {
      readonly kind: 'among-sessions'
      readonly subject: HttpSubject
      readonly sessions: number
      readonly duration: number
    }

export type JobOf<K extends Job['kind']> = Extract<Job, { kind: K }>
