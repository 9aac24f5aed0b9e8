/** A server or client from npm that nobody here wrote, and what is tried with it. */

export type Check = (name: string, body: () => Promise<void>) => Promise<void>

/** What strangers are given to work with. */
export interface Ground {
  /** Our own server. */
  readonly url: string
  /** The command line that starts our own server. */
  readonly command: readonly string[]
  /** An empty folder. */
  readonly folder: string
}

export interface Stranger {
  readonly package: string
  readonly is: 'server' | 'client'
  /** How it is reached, or reaches us. */
  readonly over: string
  run(check: Check, ground: Ground): Promise<void>
}
