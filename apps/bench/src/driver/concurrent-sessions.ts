/** Measures calls with many sessions, and changes that many streams receive. */
import { type Caller, callTimes, close } from './calls.ts'
import { Connection } from './connection.ts'
import type { JobOf, Sample } from './job.ts'
import { callInHalves, messagesIn, post } from './requests.ts'
import { startServer } from './server-process.ts'
import { openSession } from './session.ts'
import { type OpenStream, openStream } from './streams.ts'
import { awake, wait, watch } from './window.ts'

const CONNECTIONS = 16
const AT_ONCE = 1_000

/** Calls of all sessions in turn, over few connections. */
export async function measureAmongSessions({ subject, sessions, duration }: JobOf<'among-sessions'>): Promise<Sample> {
  const server = await startServer(subject)
  try {
    return await awake(async () => {
      const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => Connection.open(server.port)))
      const share = Math.ceil(Math.max(sessions, CONNECTIONS) / CONNECTIONS)
      const callers = await Promise.all(
        connections.map(async (connection, index) => {
          const mine: Caller[] = []
          const count = sessions < CONNECTIONS ? Number(index < sessions) : share
          for (let n = 0; n < count; n++) {
            const target = await openSession(connection, server.port, subject)
            mine.push({ connection, target, halves: callInHalves(target, 'add', { a: 2, b: 3 }) })
          }
          return mine
        }),
      )
      const inTurn = callers.filter((mine) => mine.length > 0).map(takingTurns)
      await callTimes(inTurn, AT_ONCE * 3)
      const found = await callFor(inTurn, server.pid, duration)
      close(callers.flatMap(([first]) => first ?? []))
      return found
    })
  } finally {
    await server.stop()
  }
}

/** A caller that uses another session for each call. */
function takingTurns(mine: readonly Caller[]): Caller {
  const [first] = mine
  if (first === undefined) throw new Error('sessions: expected at least one, got none')
  let turn = 0
  return {
    ...first,
    get halves() {
      turn = (turn + 1) % mine.length
      return mine[turn]?.halves ?? first.halves
    },
  }
}

async function callFor(callers: readonly Caller[], pid: number, duration: number): Promise<Sample> {
  let count = 0
  const until = performance.now() + duration
  const end = watch(pid)
  do {
    await callTimes(callers, AT_ONCE)
    count += AT_ONCE
  } while (performance.now() < until)
  const { cpu, wall, foreign } = end()
  return { cpu: (cpu * 1000) / count, wall: (wall * 1000) / count, foreign }
}

/** Measures a change until each stream has received it. */
export async function measureFanOut({ subject, streams, times }: JobOf<'fan-out'>): Promise<Sample> {
  const server = await startServer(subject)
  try {
    const connection = await Connection.open(server.port)
    const open: OpenStream[] = []
    for (let n = 0; n < streams; n++) {
      const target = await openSession(connection, server.port, subject)
      open.push(await openStream(target, 'notifications/tools/list_changed'))
    }
    await wait(50)
    const target = await openSession(connection, server.port, subject)
    const change = post(target, 'tools/call', { name: 'change', arguments: {} }, 9)
    return await awake(async () => {
      for (let time = 0; time < 3; time++) await changeOnce()
      const end = watch(server.pid)
      for (let time = 0; time < times; time++) await changeOnce()
      const { cpu, wall, foreign } = end()
      return { cpu: (cpu * 1000) / times, wall: (wall * 1000) / times, foreign }
    })

    async function changeOnce(): Promise<void> {
      for (const stream of open) stream.events = 0
      messagesIn(await connection.request(change))
      const until = performance.now() + 5_000
      while (open.some(({ events }) => events === 0)) {
        if (performance.now() > until)
          throw new Error(`${open.filter(({ events }) => events === 0).length} streams did not receive the change`)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
  } finally {
    await server.stop()
  }
}
