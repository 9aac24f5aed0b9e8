/** Adds the matchers to `expect` of Vitest: `import '@mcpx/testing/vitest'`. */

import { expect } from 'vitest'
import { type Assertions, matchers } from './server/matchers.ts'

expect.extend(matchers)

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends Assertions {}
}
