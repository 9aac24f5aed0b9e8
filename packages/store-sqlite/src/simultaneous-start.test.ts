import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'

it('opens a new file in two threads at the same time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcpx-sqlite-'))
  const ready = new Int32Array(new SharedArrayBuffer(4))
  const options = { workerData: ready, execArgv: ['--conditions=source', '--no-warnings'] }
  const threads = [1, 2].map(() => new Worker(new URL('./simultaneous-start.fixture.ts', import.meta.url), options))
  onTestFinished(async () => {
    for (const thread of threads) await thread.terminate()
    await rm(folder, { recursive: true })
  })
  for (let n = 0; n < 200; n++) {
    const answers = threads.map(async (thread) => {
      const [answer] = await once(thread, 'message')
      return answer
    })
    for (const thread of threads) thread.postMessage(join(folder, `${n}.sqlite`))
    expect(await Promise.all(answers)).toEqual(['opened', 'opened'])
  }
})
