/** The configuration of `vitest.ts`. */
import { defineConfig } from 'vitest/config'

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration from the default export
export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: { include: ['src/test-runners/vitest.ts'], maxWorkers: 1 },
})
