/** The runs of the official suite: what is asked of which side, and how many scenarios that has to be. */

export type Role = 'server' | 'client'

export interface Run {
  readonly name: string
  readonly role: Role
  /** What the suite is given to choose its scenarios by. */
  readonly choice: readonly string[]
  /** What `conformance list` is given to name the same scenarios. */
  readonly list: readonly string[]
  /** How many there are in the version of the suite that is pinned: any other number means that something is not run. */
  readonly scenarios: number
  /** How many of them are scored. All of those have to pass. */
  readonly scored?: number
  /** The one revision that is to be spoken in all of its scenarios, as what was sent has to show. */
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

/** The counts of required scenarios are those that are scored, 30 + 37 and 18 + 32, and those that are only reported. */
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
