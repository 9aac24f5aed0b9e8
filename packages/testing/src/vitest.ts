/**
 * Adds the matchers to `expect` of Vitest, and lets `vitest -u` update recordings and locks:
 * `import '@mcpx/testing/vitest'`.
 */

import { expect } from 'vitest'
import { type Assertions, matchers } from './server/matchers.ts'
import { setUpdateMode } from './server/transcript.ts'

expect.extend(matchers)
// Outside of tests there is no state of snapshots.
setUpdateMode(() => expect.getState().snapshotState?.snapshotUpdateState === 'all')

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends Assertions {}
}
