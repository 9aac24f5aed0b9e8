/**
 * A caller of a server: `node caller.fixture.ts <CallerOptions as JSON>`. Between the messages `begin` and `end` of its
 * parent it sends the given calls again and again, and then reports how long the answers took. It is a separate
 * process, because the process that sends a flood is busy.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import process from 'node:process'

export interface CallerOptions {
  readonly port: number
  /** The process id of the server. */
  readonly server: number
  readonly calls: readonly {
    readonly name: string
    readonly body: string
    readonly headers: Readonly<Record<string, string>>
    /** A part of the expected answer. */
    readonly expected: string
  }[]
}

/** The calls between `begin` and `end`. */
export interface CallsMade {
  readonly count: number
  /**
   * The longest time of the server for an answer, in ms: at most the processor time that all of its threads have used
   * meanwhile. On a busy machine, the other times include waiting for a processor.
   */
  readonly longest: number
  /** The name of this call. */
  readonly slowest: string
  /** The longest time for an answer without the time for which the main threads waited for a processor, in ms. */
  readonly longestWait: number
  /** The answers that differ from the expected answers. */
  readonly wrong: readonly string[]
}

/** The smallest number of times that each call is sent. The last calls begin after `end`. */
const FEWEST = 2
/** The pause after all calls, in ms. */
const PAUSE = 20
/** The time after which a call has failed, in ms. */
const TIMEOUT = 30_000

const { port, server, calls } = JSON.parse(process.argv[2] as string) as CallerOptions
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

interface ProcessorTime {
  /** The processor time of all threads, in ms. */
  readonly used: number
  /** How long the main thread was ready to run, but waited for a processor, in ms. */
  readonly waited: number
}

/** Reads the processor time of a process. Only Linux reports it. */
function readProcessorTime(pid: number): ProcessorTime | undefined {
  const read = (thread: string) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ').map(Number)
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map(read)
    const [, waited = 0] = read(String(pid))
    return { used: threads.reduce((sum, [used = 0]) => sum + used, 0) / 1e6, waited: waited / 1e6 }
  } catch {
    return undefined
  }
}

function post(call: CallerOptions['calls'][number]): Promise<string> {
  return new Promise((resolve) => {
    const { headers } = call
    const options = { port, agent, headers, host: '127.0.0.1', path: '/mcp', method: 'POST', timeout: TIMEOUT }
    const posted = request(options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve(text)).on('error', (error) => resolve(String(error)))
    })
    posted.on('timeout', () => posted.destroy(new Error(`no answer within ${TIMEOUT} ms`)))
    posted.on('error', (error: NodeJS.ErrnoException) => {
      // The server may have closed the idle connection at the same time.
      const isIdle = posted.reusedSocket && error.code === 'ECONNRESET'
      resolve(isIdle ? post(call) : String(error))
    })
    posted.end(call.body)
  })
}

let isEnding = false

async function callUntilEnd(): Promise<CallsMade> {
  const wrong: string[] = []
  let [count, longest, longestWait, slowest] = [0, 0, 0, '']
  for (let left = FEWEST; left > 0 && wrong.length === 0; left -= isEnding ? 1 : 0) {
    for (const call of calls) {
      const before = [readProcessorTime(server), readProcessorTime(process.pid)]
      const start = performance.now()
      const answer = await post(call)
      const whole = performance.now() - start
      const after = [readProcessorTime(server), readProcessorTime(process.pid)]
      const waited = after.reduce((sum, now, index) => sum + (now?.waited ?? 0) - (before[index]?.waited ?? 0), 0)
      const wait = whole - waited
      const [used, usedBefore] = [after[0]?.used, before[0]?.used]
      const time = used === undefined || usedBefore === undefined ? wait : Math.min(wait, used - usedBefore)
      count += 1
      longestWait = Math.max(longestWait, wait)
      if (time > longest) [longest, slowest] = [time, call.name]
      if (!answer.includes(call.expected)) wrong.push(`${call.name}: ${answer.slice(0, 300)}`)
    }
    await new Promise<void>((resolve) => setTimeout(resolve, PAUSE))
  }
  return { count, longest, slowest, longestWait, wrong }
}

process.on('message', async (command) => {
  isEnding = command === 'end'
  if (!isEnding) process.send?.(await callUntilEnd())
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
