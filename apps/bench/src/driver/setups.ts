/** Measures setups of clients: the handshake or the modern discovery, and the list of tools. */
import { Connection } from './connection.ts'
import type { HttpSubject, JobOf, Sample } from './job.ts'
import { messagesIn, post } from './requests.ts'
import { startServer } from './server-process.ts'
import { openSession } from './session.ts'
import { awake, watch } from './window.ts'

const CONNECTIONS = 16

export async function measureSetups({ subject, warmUp, duration }: JobOf<'setups'>): Promise<Sample> {
  const server = await startServer(subject)
  try {
    return await awake(async () => {
      const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => Connection.open(server.port)))
      await setUpFor(connections, server.port, subject, warmUp)
      const end = watch(server.pid)
      const count = await setUpFor(connections, server.port, subject, duration)
      const { wall, cpu, busy, foreign } = end()
      for (const connection of connections) connection.close()
      return { rate: (count / wall) * 1000, cpu: (cpu * 1000) / count, busy, foreign }
    })
  } finally {
    await server.stop()
  }
}

async function setUpFor(
  connections: readonly Connection[],
  port: number,
  subject: HttpSubject,
  ms: number,
): Promise<number> {
  const until = performance.now() + ms
  let count = 0
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() < until) {
        await setUp(connection, port, subject)
        count += 1
      }
    }),
  )
  return count
}

async function setUp(connection: Connection, port: number, subject: HttpSubject): Promise<void> {
  const target = await openSession(connection, port, subject)
  if (subject.era === 'modern') messagesIn(await connection.request(post(target, 'server/discover', {}, 1)))
  const listed = messagesIn(await connection.request(post(target, 'tools/list', {}, 2))).at(-1)
  if (listed?.result?.tools?.length !== 1)
    throw new Error(`tools/list: expected one tool, got ${JSON.stringify(listed)}`)
}
