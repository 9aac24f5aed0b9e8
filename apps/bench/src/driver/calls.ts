/** Measures throughput, latency and CPU time of a server with several concurrent calls. */
import { Connection } from './connection.ts'
import type { JobOf, Sample } from './job.ts'
import { callInHalves, FIRST_ID, isEvents, messagesIn, type Target } from './requests.ts'
import { startServer } from './server-process.ts'
import { expectSum, openSession } from './session.ts'
import { awake, wait, watch } from './window.ts'

/** A caller always has one pending request. */
export interface Caller {
  readonly connection: Connection
  readonly target: Target
  readonly halves: readonly [before: string, after: string]
}

export async function openCallers(
  port: number,
  { subject, inFlight }: Pick<JobOf<'calls'>, 'subject'> & { inFlight: number },
) {
  return Promise.all(
    Array.from({ length: inFlight }, async (): Promise<Caller> => {
      const connection = await Connection.open(port)
      const target = await openSession(connection, port, subject)
      await expectSum(connection, target)
      return { connection, target, halves: callInHalves(target, 'add', { a: 2, b: 3 }) }
    }),
  )
}

export async function measureCalls(job: JobOf<'calls'>): Promise<Sample> {
  const server = await startServer({ file: job.subject.file, env: { ...job.subject.env, ANSWERS: job.answers } })
  try {
    await expectForm(server.port, job)
    return await awake(async () => {
      const warm = await openCallers(server.port, { subject: job.subject, inFlight: 16 })
      await drive(warm, server.pid, job.warmUp, 0)
      close(warm)
      const samples: Record<string, number> = {}
      for (const inFlight of job.inFlight) {
        const callers = await openCallers(server.port, { subject: job.subject, inFlight })
        const found = await drive(callers, server.pid, Math.min(150, job.warmUp / 3), job.duration)
        const [first] = callers
        if (first !== undefined) await expectSum(first.connection, first.target)
        close(callers)
        for (const [name, value] of Object.entries(found)) samples[`${name}${inFlight}`] = value
      }
      return { ...samples, foreign: Math.max(...job.inFlight.map((each) => samples[`foreign${each}`] ?? 0)) }
    })
  } finally {
    await server.stop()
  }
}

/** Checks that the server responds in the expected form. */
async function expectForm(port: number, { subject, answers }: JobOf<'calls'>): Promise<void> {
  const connection = await Connection.open(port)
  const target = await openSession(connection, port, subject)
  const [before, after] = callInHalves(target, 'add', { a: 2, b: 3 })
  const reply = await connection.request(before + FIRST_ID + after)
  messagesIn(reply)
  connection.close()
  const form = isEvents(reply.headers) ? 'events' : 'json'
  if (form !== answers) throw new Error(`response: expected ${answers}, got ${form}`)
}

/** A preallocated buffer for the latencies of all calls. */
const latencies = new Float64Array(4_000_000)

/** Calls continuously on all connections. */
async function drive(callers: readonly Caller[], pid: number, warmUp: number, duration: number): Promise<Sample> {
  const state = { id: FIRST_ID, isOver: false, isMeasuring: false, count: 0 }
  const ends = callers.map((caller) => keepCalling(caller, state))
  await wait(warmUp)
  const end = watch(pid)
  state.isMeasuring = true
  await wait(duration)
  state.isMeasuring = false
  const { wall, cpu, busy, foreign } = end()
  state.isOver = true
  await Promise.all(ends)
  const { count } = state
  const sorted = latencies.subarray(0, count).toSorted()
  const at = (share: number) => sorted[Math.min(count - 1, Math.floor(count * share))] ?? Number.NaN
  return { rate: (count / wall) * 1000, cpu: (cpu * 1000) / count, p50: at(0.5), p99: at(0.99), busy, foreign }
}

interface State {
  id: number
  isOver: boolean
  isMeasuring: boolean
  count: number
}

function keepCalling({ connection, halves: [before, after] }: Caller, state: State): Promise<void> {
  return new Promise((resolve, reject) => {
    let sent = 0
    const next = () => {
      sent = performance.now()
      state.id += 1
      connection.send(before + state.id + after, answered, reject)
    }
    const answered = ({ status }: { status: number }) => {
      if (status !== 200) return reject(new Error(`HTTP ${status} during a measurement`))
      if (state.isMeasuring && state.count < latencies.length) latencies[state.count++] = performance.now() - sent
      if (state.isOver) resolve()
      else next()
    }
    next()
  })
}

/** Makes the given number of calls on all connections together. */
export async function callTimes(callers: readonly Caller[], times: number): Promise<void> {
  let [id, left] = [FIRST_ID, times]
  await Promise.all(
    callers.map(
      ({ connection, halves: [before, after] }) =>
        new Promise<void>((resolve, reject) => {
          const next = () => {
            left -= 1
            if (left < 0) return resolve()
            id += 1
            connection.send(before + id + after, next, reject)
          }
          next()
        }),
    ),
  )
}

export function close(callers: readonly Caller[]): void {
  for (const { connection } of callers) connection.close()
}
