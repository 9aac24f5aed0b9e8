/** Has a worker guard itself, and reports what its checks found. */
import { end } from './programs.ts'
import type { Runtime } from './runtimes.ts'
import type { CheckResult } from './smoke.ts'
import { startWorker } from './workerd.ts'

/** Twice at once: a worker may not wait for what another request of it has begun. */
export async function runGuarded({ path }: Runtime): Promise<CheckResult[]> {
  const { program, url } = await startWorker(path, 'guard-workerd')
  try {
    const answers = await Promise.all([fetch(url), fetch(url)])
    const results = answers.map(async (answer) => {
      if (!answer.ok) throw new Error(`the worker answered with ${answer.status}: ${await answer.text()}`)
      return (await answer.json()) as CheckResult[]
    })
    return (await Promise.all(results)).flat()
  } finally {
    end(program)
  }
}
