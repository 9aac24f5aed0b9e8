/** Scenarios that need packages that are not implemented yet. They are listed, and count neither as passed nor as failed. */

export interface NotYet {
  /** Complete names. A scenario that passes or does not exist fails the run. */
  readonly scenarios: readonly string[]
  /** The missing package. */
  readonly needs: string
}

export const notYet: readonly NotYet[] = []
