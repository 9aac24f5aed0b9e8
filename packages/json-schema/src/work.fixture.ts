/** How much work something is: the processor's time on this thread, in ms, whatever else the machine does meanwhile. */

export function workOf(run: () => unknown): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
