/** Measures the heap size of an idle session, with and without an open stream. */
import { Connection } from './connection.ts'
import type { HttpSubject, JobOf, Sample } from './job.ts'
import { startServer } from './server-process.ts'
import { openSession } from './session.ts'
import { openStream } from './streams.ts'
import { wait } from './window.ts'

const CONNECTIONS = 8
/** The first sessions, which also allocate the shared memory. */
const FIRST = 200

export async function measureSessions({ subject, count, withStream }: JobOf<'sessions'>): Promise<Sample> {
  const server = await startServer({ ...subject, flags: ['--expose-gc'], isProbed: true })
  try {
    await openMany(server.port, subject, FIRST, withStream)
    const before = await server.heap()
    await openMany(server.port, subject, count, withStream)
    await wait(50)
    const after = await server.heap()
    return {
      heap: (after.used - before.used) / count / 1000,
      external: (after.external - before.external) / count / 1000,
    }
  } finally {
    await server.stop()
  }
}

/** The connections of streams stay open, and so do the sessions. */
async function openMany(port: number, subject: HttpSubject, count: number, withStream: boolean): Promise<void> {
  let left = count
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const connection = await Connection.open(port)
      while (left > 0) {
        left -= 1
        const target = await openSession(connection, port, subject)
        if (withStream) await openStream(target, 'nothing')
      }
      connection.close()
    }),
  )
}
