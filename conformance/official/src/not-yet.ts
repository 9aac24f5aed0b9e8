/** Scenarios that need packages which are not written yet. They are shown, and count neither as passed nor as failed. */

export interface NotYet {
  /** Each by its whole name: one that passes, or that the suite does not have, fails the run. */
  readonly scenarios: readonly string[]
  /** The package that they need. */
  readonly needs: string
}

export const notYet: readonly NotYet[] = [
  {
    scenarios: [
      'tasks-capability-negotiation',
      'tasks-dispatch-and-envelope',
      'tasks-lifecycle',
      'tasks-mrtr-composition',
      'tasks-mrtr-input',
      'tasks-request-headers',
      'tasks-request-state-removal',
      'tasks-required-task-error',
      'tasks-status-notifications',
      'tasks-wire-fields',
    ],
    needs: '@mcpx/ext-tasks',
  },
  {
    scenarios: [
      'sep-2640-client-no-prefetch',
      'sep-2640-client-verify-digest',
      'sep-2640-client-verify-frontmatter',
      'sep-2640-client-verify-size',
      'sep-2640-skills-directory',
      'sep-2640-skills-enumeration',
      'sep-2640-skills-manifest',
    ],
    needs: '@mcpx/ext-skills',
  },
]
