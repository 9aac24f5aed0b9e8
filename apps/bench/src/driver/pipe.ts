/** Measures a server over stdio: sequential calls, 64 concurrent calls, and the time to its first response. */
import { cpuOf } from '../machine.ts'
import type { JobOf, PipeSubject, Sample } from './job.ts'
import { middleOf } from './middle.ts'
import { type Answered, type Era, FIRST_ID, halves, initializeParams, messageText, textOf } from './requests.ts'
import { type Started, startProcess } from './server-process.ts'
import { awake, wait, watch } from './window.ts'

class Pipe {
  readonly started: Started
  readonly #era: Era
  #rest = ''
  onLines: (lines: readonly string[]) => void = () => {}

  constructor({ file, era }: PipeSubject) {
    this.started = startProcess({ file })
    this.#era = era
    this.started.child.stdout?.setEncoding('latin1').on('data', (data: string) => {
      const lines = (this.#rest + data).split('\n')
      this.#rest = lines.pop() ?? ''
      if (lines.length > 0) this.onLines(lines)
    })
  }

  write(text: string): void {
    this.started.child.stdin?.write(text)
  }

  /** Resolves to the first response. */
  ask(method: string, params: Record<string, unknown>): Promise<Answered> {
    return new Promise((resolve, reject) => {
      this.started.child.once('exit', (code) => reject(new Error(`exited with ${code}`)))
      this.onLines = ([line = '']) => resolve(JSON.parse(line) as Answered)
      this.write(`${messageText(this.#era, method, params, 1)}\n`)
    })
  }

  async introduce(): Promise<void> {
    const [method, params] =
      this.#era === 'modern'
        ? (['server/discover', {}] as const)
        : (['initialize', initializeParams(undefined)] as const)
    const { result } = await this.ask(method, params)
    if (result === undefined) throw new Error(`${method}: expected a result`)
    if (this.#era === 'legacy') this.write(`${messageText('legacy', 'notifications/initialized', {})}\n`)
  }

  /** The bytes of a call before and after its id. */
  get call(): readonly [string, string] {
    return halves(`${messageText(this.#era, 'tools/call', { name: 'add', arguments: { a: 2, b: 3 } }, FIRST_ID)}\n`)
  }
}

export async function measureColdStart({ subject, times }: JobOf<'cold-start'>): Promise<Sample> {
  const all: Sample[] = []
  for (let time = 0; time < times; time++) {
    const begun = performance.now()
    const pipe = new Pipe(subject)
    try {
      await pipe.introduce()
      all.push({ ms: performance.now() - begun, cpu: cpuOf(pipe.started.pid) ?? Number.NaN })
    } finally {
      await pipe.started.stop()
    }
  }
  return middleOf(all)
}

export async function measurePipe({ subject, warmUp, duration }: JobOf<'pipe'>): Promise<Sample> {
  const pipe = new Pipe(subject)
  try {
    await pipe.introduce()
    return await awake(async () => {
      await drive(pipe, 64, warmUp, 0)
      const one = await drive(pipe, 1, Math.min(150, warmUp / 3), duration)
      const many = await drive(pipe, 64, Math.min(150, warmUp / 3), duration)
      const named = (sample: Sample, suffix: string) =>
        Object.entries(sample).map(([name, value]) => [name + suffix, value])
      const foreign = Math.max(one.foreign ?? 0, many.foreign ?? 0)
      return { ...Object.fromEntries([...named(one, '1'), ...named(many, '64')]), foreign }
    })
  } finally {
    await pipe.started.stop()
  }
}

async function drive(pipe: Pipe, inFlight: number, warmUp: number, duration: number): Promise<Sample> {
  const [before, after] = pipe.call
  const state = { id: FIRST_ID, count: 0, outstanding: 0, isOver: false, last: '' }
  const send = (times: number) => {
    let text = ''
    for (let n = 0; n < times; n++) text += before + ++state.id + after
    state.outstanding += times
    pipe.write(text)
  }
  const drained = new Promise<void>((resolve) => {
    pipe.onLines = (lines) => {
      state.count += lines.length
      state.outstanding -= lines.length
      state.last = lines.at(-1) ?? ''
      if (!state.isOver) send(lines.length)
      else if (state.outstanding === 0) resolve()
    }
  })
  send(inFlight)
  await wait(warmUp)
  const counted = state.count
  const end = watch(pipe.started.pid)
  await wait(duration)
  const { wall, cpu, busy, foreign } = end()
  const count = state.count - counted
  state.isOver = true
  await drained
  if (textOf(JSON.parse(state.last) as Answered) !== '5') throw new Error(`Wrong last result: ${state.last}`)
  return { rate: (count / wall) * 1000, cpu: (cpu * 1000) / count, busy, foreign }
}
