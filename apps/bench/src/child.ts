/** Measures one subject in a child process: warms it up, times it, and prints a line of JSON. `child.ts <case> <subject> <ms> <ms>` */
import { setImmediate as turn } from 'node:timers/promises'
import type { Work } from './case.ts'
import { cases } from './cases.ts'

/** The output of a child process. */
export interface Sample {
  readonly calls: number
  /** The mean CPU time of a call in nanoseconds, including garbage collection. */
  readonly cpu: number
  /** The median wall-clock time of a call, in nanoseconds. */
  readonly wall: number
  /** The share of time in which other processes used the CPU. */
  readonly foreign: number
  readonly characters?: number | undefined
}

/** The duration of a batch of calls, in milliseconds; other tasks run after each batch. */
const BATCH = 2

async function callAsync(call: () => unknown, times: number): Promise<unknown> {
  let result: unknown
  for (let n = 0; n < times; n++) result = await call()
  return result
}

function callSync(call: () => unknown, times: number): unknown {
  let result: unknown
  for (let n = 0; n < times; n++) result = call()
  return result
}

interface Spin {
  readonly calls: number
  readonly cpu: number
  readonly wall: number
  readonly median: number
}

/** Calls for the given milliseconds in batches of the given size. Times are in nanoseconds. */
async function spin(repeat: (times: number) => unknown, ms: number, batch: number): Promise<Spin> {
  const times: number[] = []
  const cpuBefore = process.cpuUsage()
  const start = performance.now()
  let now = start
  while (now - start < ms) {
    await repeat(batch)
    const then = performance.now()
    times.push(then - now)
    await turn()
    now = performance.now()
  }
  const { user, system } = process.cpuUsage(cpuBefore)
  times.sort((a, b) => a - b)
  return {
    calls: times.length * batch,
    cpu: (user + system) * 1e3,
    wall: (now - start) * 1e6,
    median: ((times[times.length >> 1] ?? 0) / batch) * 1e6,
  }
}

async function expectRight({ call, isRight }: Work): Promise<void> {
  const result = await call()
  if (!isRight(result)) throw new Error(`Wrong result: ${JSON.stringify(result)?.slice(0, 200)}`)
}

async function measure(work: Work, warmUp: number, duration: number): Promise<Sample> {
  await expectRight(work)
  const isAsync = work.call() instanceof Promise
  const repeat = (times: number) => (isAsync ? callAsync(work.call, times) : callSync(work.call, times))
  const cold = await spin(repeat, warmUp / 2, 1)
  const warm = await spin(repeat, warmUp / 2, batchOf(cold))
  const { calls, cpu, wall, median } = await spin(repeat, duration, batchOf(warm))
  await expectRight(work)
  return { calls, cpu: cpu / calls, wall: median, foreign: Math.max(0, 1 - cpu / wall), characters: work.characters }
}

function batchOf({ median }: Spin): number {
  return Math.max(1, Math.round((BATCH * 1e6) / median))
}

const [caseName, subjectName, warmUp, duration] = process.argv.slice(2)
const found = cases.find((each) => each.name === caseName)
const subject = found?.kind === 'speed' ? found.subjects.find((each) => each.name === subjectName) : undefined
if (subject === undefined) throw new Error(`subject: expected one of the case '${caseName}', got '${subjectName}'`)
console.log(JSON.stringify(await measure(await subject.prepare(), Number(warmUp), Number(duration))))
process.exit(0)
