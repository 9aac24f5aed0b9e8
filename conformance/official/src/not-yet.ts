/** Scenarios that need packages which are not written yet. They are shown, and count neither as passed nor as failed. */

export interface NotYet {
  /** What the names of the scenarios begin with. */
  readonly scenarios: string
  /** The package that they need. */
  readonly needs: string
}

export const notYet: readonly NotYet[] = [
  { scenarios: 'tasks-', needs: '@mcpx/ext-tasks' },
  { scenarios: 'sep-2640-', needs: '@mcpx/ext-skills' },
]
