/** One thing that client and server do together, the same in every revision that has it. */

import type { Rig } from './rig.ts'

export type Behaviour = (rig: Rig) => Promise<void>

/** Names of behaviours are sentences about client and server; what a revision gets instead is asked of the rig. */
export type Behaviours = Readonly<Record<string, Behaviour>>
