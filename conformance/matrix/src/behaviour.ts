/** A test that runs in every revision and over every transport. */

import type { Rig } from './rig.ts'

export type Behaviour = (rig: Rig) => Promise<void>

/** Behaviours by their names, which are sentences. Differences between revisions are handled inside the test. */
export type Behaviours = Readonly<Record<string, Behaviour>>
