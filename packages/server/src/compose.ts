/** Handlers put together: several as one, or one under a prefix. */

export { combine } from './compose/combine.ts'
export { type Mountable, mounted } from './compose/mounted.ts'
export type { OwnedKind, OwningHandler } from './compose/owning-handler.ts'
