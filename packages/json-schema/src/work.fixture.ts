/** Measures the CPU time of a call on this thread, in ms. Other work on the machine does not count. */

export function workOf(run: () => unknown): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
