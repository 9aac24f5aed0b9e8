/** Handlers put together: several as one, or one under a prefix. */

export { combine } from './compose/combine.ts'
export { handlerOf, type Mountable, mounted } from './compose/mounted.ts'
export { noteMount } from './compose/mounts.ts'
export type { OwnedKind, OwningHandler } from './compose/owning-handler.ts'
