/** Measures the time from starting a server to its first response over HTTP. */
import { cpuOf } from '../machine.ts'
import { Connection } from './connection.ts'
import type { JobOf, Sample } from './job.ts'
import { middleOf } from './middle.ts'
import { freePort, startProcess } from './server-process.ts'
import { expectSum, openSession } from './session.ts'

export async function measureFirstAnswer({ subject, times }: JobOf<'first-answer'>): Promise<Sample> {
  const all: Sample[] = []
  for (let time = 0; time < times; time++) all.push(await once(subject))
  return middleOf(all)
}

async function once(subject: JobOf<'first-answer'>['subject']): Promise<Sample> {
  const port = await freePort()
  const started = performance.now()
  const server = startProcess({ ...subject, env: { ...subject.env, PORT: String(port) } })
  try {
    await server.ready()
    const connection = await Connection.open(port)
    await expectSum(connection, await openSession(connection, port, subject))
    const ms = performance.now() - started
    connection.close()
    return { ms, cpu: cpuOf(server.pid) ?? Number.NaN }
  } finally {
    await server.stop()
  }
}
