/** Loaded before `mcpx` by a test: writes the size of the heap to standard error at SIGUSR2, after a garbage collection. */

import process from 'node:process'

process.on('SIGUSR2', () => {
  const { gc } = globalThis as { gc?: () => void }
  gc?.()
  gc?.()
  process.stderr.write(`heap of ${process.memoryUsage().heapUsed} bytes\n`)
})
