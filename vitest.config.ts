import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration from the default export
export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: ['{packages,conformance,apps}/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
    passWithNoTests: false,
    // The AI SDK imports a package that has a `source` condition, too. Vite compiles it, Node does not.
    server: { deps: { inline: ['ai', /@ai-sdk/] } },
    // Tests do not measure time. This limit ends those that hang, also on a busy machine.
    testTimeout: 30_000,
    // Much of the suite waits, for processes and for clocks: with a worker less than cores, the default, the machine idles.
    maxWorkers: availableParallelism() + 1,
  },
})
