/** Runs the checks of a protected server in a worker. */
import { end } from './programs.ts'
import type { Runtime } from './runtimes.ts'
import type { CheckResult } from './suite.ts'
import { startWorker } from './workerd.ts'

/**
 * Runs the checks twice concurrently, because workerd does not allow a request to wait for a promise of another
 * request.
 */
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
