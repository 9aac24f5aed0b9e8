/** Measures calls that send a thousand progress notifications. */
import { Connection } from './connection.ts'
import type { JobOf, Sample } from './job.ts'
import { callInHalves, FIRST_ID, messagesIn } from './requests.ts'
import { startServer } from './server-process.ts'
import { openSession } from './session.ts'
import { awake, watch } from './window.ts'

const NOTIFICATIONS = 1000

export async function measureProgress({ subject, warmUp, duration }: JobOf<'progress'>): Promise<Sample> {
  const server = await startServer({ ...subject, env: { ...subject.env, TOOLS: 'add,count' } })
  try {
    return await awake(async () => {
      const connection = await Connection.open(server.port)
      const target = await openSession(connection, server.port, subject)
      const [before, after] = callInHalves(target, 'count', { n: NOTIFICATIONS }, { progressToken: 7 })
      let id = FIRST_ID
      const call = () => connection.request(before + id++ + after)
      const said = messagesIn(await call()).filter(({ method }) => method === 'notifications/progress').length
      if (said !== NOTIFICATIONS) throw new Error(`${said} of ${NOTIFICATIONS} notifications arrived`)
      await repeat(call, warmUp)
      const end = watch(server.pid)
      const calls = await repeat(call, duration)
      const { wall, cpu, busy, foreign } = end()
      connection.close()
      const count = calls * NOTIFICATIONS
      return { rate: (count / wall) * 1000, cpu: (cpu * 1000) / count, busy, foreign }
    })
  } finally {
    await server.stop()
  }
}

/** Repeats an operation for the given milliseconds, at least three times; returns the count. */
export async function repeat(work: () => Promise<unknown>, ms: number): Promise<number> {
  const until = performance.now() + ms
  let times = 0
  while (times < 3 || performance.now() < until) {
    await work()
    times += 1
  }
  return times
}
