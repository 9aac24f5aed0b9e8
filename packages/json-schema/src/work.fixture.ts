/** Measures the CPU time of a call on this thread, in milliseconds, independently of other work on the machine. */

export function workOf(run: () => unknown): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
