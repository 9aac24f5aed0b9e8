/** Saves a server again and again while clients call it. `MCPX_SAVES=200` is the long run. */

import process from 'node:process'
import type { Client } from '@mcpx/client'
import { expect, it } from 'vitest'
import { isRunning, readHeap, readProcesses, startDev, textOf } from './dev.fixture.ts'

const SAVES = Number(process.env.MCPX_SAVES ?? 20)

it.runIf(process.platform === 'linux')(
  `loses no call during ${SAVES} saves, leaves no process, and keeps its memory`,
  { timeout: 60_000 + SAVES * 4_000 },
  async () => {
    const dev = await startDev({ transport: 'http', era: 'legacy' })
    const { client, connectAgain, replace } = dev
    const clients = [client, await connectAgain('modern')]
    const [, front] = await readProcesses(client)
    const servers = new Set<number>()
    const heap: number[] = []
    const versions = new Set<string>()
    let isOver = false
    let calls = 0
    const failures: unknown[] = []
    async function callAllTheTime(each: Client, time: number): Promise<void> {
      while (!isOver && failures.length === 0) {
        calls += 1
        await textOf(each.callTool('slow', { time })).then(
          (version) => versions.add(version),
          (error: unknown) => failures.push(error),
        )
      }
    }
    const callers = clients.flatMap((each) => [5, 50, 700].map((time) => callAllTheTime(each, time)))
    try {
      for (let save = 1; save <= SAVES && failures.length === 0; save++) {
        // Without logs, the calls of all clients run at the same time.
        await replace(`v${save}`, '', { logging: false })
        servers.add((await readProcesses(client))[0])
        for (const each of clients) expect(await textOf(each.callTool('version'))).toBe(`v${save}`)
        if (save % Math.ceil(SAVES / 10) === 0) heap.push(await readHeap(dev, front))
      }
    } finally {
      isOver = true
      await Promise.all(callers)
    }
    expect(failures).toEqual([])
    expect(servers.size).toBeGreaterThanOrEqual(SAVES)
    expect(versions.size).toBeGreaterThanOrEqual(SAVES)
    // The processes that were replaced have ended, although this one still serves.
    const [newest] = await readProcesses(client)
    await expect.poll(() => [...servers].filter(isRunning)).toEqual([newest])
    process.stderr.write(`${SAVES} saves: ${calls} calls, ${failures.length} lost; heap ${heap.join(', ')} kB\n`)
    // The first saves load and compile code.
    const [, second = 0] = heap
    expect(heap.at(-1)).toBeLessThan(second * 1.1)
    process.kill(front, 'SIGTERM')
    await expect.poll(() => [...servers, front].filter(isRunning), { timeout: 8_000 }).toEqual([])
  },
)
