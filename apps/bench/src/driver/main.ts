/** Makes one measurement of one subject in a child process that generates the load. `main.ts <job as JSON>` */
import { measureCalls } from './calls.ts'
import { measureAmongSessions, measureFanOut } from './concurrent-sessions.ts'
import { measureFirstAnswer } from './first-answer.ts'
import { measureAllocations, measureHeap, measureLeftovers } from './heap.ts'
import { measureImports, measureModules } from './imports.ts'
import type { Job, JobOf, Sample } from './job.ts'
import { measurePayload } from './payload.ts'
import { measureColdStart, measurePipe } from './pipe.ts'
import { measureProgress } from './progress.ts'
import { measureSessions } from './sessions.ts'
import { measureSetups } from './setups.ts'

const measures: { [K in Job['kind']]: (job: JobOf<K>) => Promise<Sample> } = {
  calls: measureCalls,
  setups: measureSetups,
  sessions: measureSessions,
  progress: measureProgress,
  payload: measurePayload,
  'first-answer': measureFirstAnswer,
  pipe: measurePipe,
  'cold-start': measureColdStart,
  imports: measureImports,
  modules: measureModules,
  heap: measureHeap,
  allocations: measureAllocations,
  leftovers: measureLeftovers,
  'fan-out': measureFanOut,
  'among-sessions': measureAmongSessions,
}

const job = JSON.parse(process.argv[2] ?? '{}') as Job
try {
  const measure = measures[job.kind] as (job: Job) => Promise<Sample>
  console.log(JSON.stringify(await measure(job)))
  process.exit(0)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
