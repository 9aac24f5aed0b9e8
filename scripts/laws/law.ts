/** What a law is: a sentence, and a way to find where it is broken. */
import type { Tree } from './tree.ts'

export interface Violation {
  /** The file it is in, from the root. */
  readonly path: string
  readonly line?: number
  /** What was found there, and what to do where that is not plain. */
  readonly what: string
}

export interface Law {
  readonly name: string
  /** The sentence it enforces. */
  readonly says: string
  check(tree: Tree): readonly Violation[]
}
