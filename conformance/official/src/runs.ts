/** The runs of the official suite, with their numbers of scenarios. */

export type Role = 'server' | 'client'

export interface Run {
  readonly name: string
  readonly role: Role
  /** The arguments that select the scenarios. */
  readonly choice: readonly string[]
  /** The arguments of `conformance list` for the same scenarios. */
  readonly list: readonly string[]
  /** The number of scenarios in the pinned version of the suite; any other number fails the run. */
  readonly scenarios: number
  /** The number of scored scenarios, all of which must pass. */
  readonly scored?: number
  /** The only revision that all messages and headers of the run may use. */
  readonly wire?: string
}

const everything = ['--suite', 'all']

function wire(role: Role, revision: string, scenarios: number): Run {
  const version = ['--spec-version', revision]
  const choice = [...everything, ...version]
  return { name: `${role}-${revision}-wire`, role, choice, list: version, scenarios, wire: revision }
}

function required(role: Role, name: string, revision: string, scored: number, reported: number): Run {
  const choice = ['--requirements', revision]
  return { name, role, choice, list: choice, scenarios: scored + reported, scored }
}

/** The counts of required scenarios: scored scenarios (30 + 37 and 18 + 32), and scenarios that are only reported. */
export const runs: readonly Run[] = [
  required('server', 'server-2025', '2025-11-25', 30, 3),
  required('server', 'server-2026', '2026-07-28', 37, 13),
  { name: 'server-all', role: 'server', choice: everything, list: [], scenarios: 65 },
  required('client', 'client-2025', '2025-11-25', 18, 7),
  required('client', 'client-2026', '2026-07-28', 32, 7),
  { name: 'client-all', role: 'client', choice: everything, list: [], scenarios: 48 },
  wire('server', '2025-06-18', 27),
  wire('server', '2025-03-26', 1),
  wire('client', '2025-06-18', 5),
  wire('client', '2025-03-26', 2),
]
