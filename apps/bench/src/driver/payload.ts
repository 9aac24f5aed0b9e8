/** Measures the throughput of large strings, and the peak memory of the server. */
import { peakOf } from '../machine.ts'
import { Connection } from './connection.ts'
import type { JobOf, Sample } from './job.ts'
import { repeat } from './progress.ts'
import { callInHalves, FIRST_ID, messagesIn, textOf } from './requests.ts'
import { startServer } from './server-process.ts'
import { openSession } from './session.ts'
import { awake, watch } from './window.ts'

export async function measurePayload({ subject, way, bytes, warmUp, duration }: JobOf<'payload'>): Promise<Sample> {
  const server = await startServer({ ...subject, env: { ...subject.env, TOOLS: 'add,give,take' } })
  try {
    return await awake(async () => {
      const connection = await Connection.open(server.port)
      const target = await openSession(connection, server.port, subject)
      const args =
        way === 'give' ? { length: bytes } : { text: 'All work and no play. '.repeat(bytes / 22 + 1).slice(0, bytes) }
      const request = Buffer.from(callInHalves(target, way, args).join(String(FIRST_ID)), 'latin1')
      const text = textOf(messagesIn(await connection.request(request)).at(-1))
      const isRight = way === 'give' ? text?.length === bytes : text === String(bytes)
      if (!isRight) throw new Error(`A text of ${bytes} became ${text?.slice(0, 100)}`)
      const call = () => new Promise((resolve, reject) => connection.send(request, resolve, reject))
      await repeat(call, warmUp)
      const end = watch(server.pid)
      const calls = await repeat(call, duration)
      const { wall, cpu, busy, foreign } = end()
      connection.close()
      const peak = peakOf(server.pid) ?? Number.NaN
      return { rate: (calls * bytes) / 1000 / wall, cpu: cpu / calls, peak, busy, foreign }
    })
  } finally {
    await server.stop()
  }
}
