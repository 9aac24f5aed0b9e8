/** The growth of the cost with the number of tools, sessions and streams, and with the size of a result. */
import { fileURLToPath } from 'node:url'
import type { Findings, OwnCase, RunOptions, Verdict } from '../case.ts'
import { leastDisturbed, readChild } from '../child-process.ts'
import { timesOf } from '../contestants.ts'
import type { HttpSubject, Job, Sample } from '../driver/job.ts'
import { growthFactor } from '../growth-factor.ts'
import { type Line, lineChart, type Panel } from '../line-chart.ts'
import { loadCore } from '../machine.ts'
import { fixed, median } from '../statistics.ts'

const driver = fileURLToPath(new URL('../driver/main.ts', import.meta.url))

const modern: HttpSubject = { file: 'http/serve-http.mjs', era: 'modern' }
const legacy: HttpSubject = { ...modern, era: 'legacy', hasSession: true }
const bare: HttpSubject = { ...legacy, file: 'http/bare-node.mjs' }
const changing = { file: 'http/changing.mjs' }

/** A line of the chart: a job for each x, and the divisor of its CPU time. */
interface Plan extends Omit<Panel, 'lines'> {
  readonly name: string
  readonly sizes: readonly number[]
  readonly lines: Readonly<Record<string, (size: number, options: RunOptions) => Job>>
}

const calling =
  (subject: HttpSubject) =>
  (tools: number, options: RunOptions): Job => {
    const env = { MORE_TOOLS: String(tools - 1) }
    return { kind: 'calls', subject: { ...subject, env }, inFlight: [16], answers: 'json', ...timesOf(options) }
  }

const giving =
  (subject: HttpSubject) =>
  (bytes: number, options: RunOptions): Job => ({ kind: 'payload', subject, way: 'give', bytes, ...timesOf(options) })

const telling =
  (subject: HttpSubject) =>
  (streams: number, { isQuick }: RunOptions): Job => ({ kind: 'fan-out', subject, streams, times: isQuick ? 10 : 100 })

const plans: readonly Plan[] = [
  {
    name: 'tools',
    title: 'A call, by the number of tools',
    x: 'tools',
    y: 'µs of processor time',
    isLinear: false,
    sizes: [1, 10, 1_000],
    lines: { modern: calling(modern), 'legacy session': calling(legacy) },
  },
  {
    name: 'sessions',
    title: 'A call, by the number of sessions',
    x: 'sessions that call in turn',
    y: 'µs of processor time',
    isLinear: false,
    sizes: [1, 1_000, 10_000],
    lines: {
      'legacy session': (sessions, options) => ({
        kind: 'among-sessions',
        subject: legacy,
        sessions,
        duration: timesOf(options).duration,
      }),
    },
  },
  {
    name: 'streams',
    title: 'A change that all are told of',
    x: 'open streams',
    y: 'µs of processor time',
    isLinear: true,
    sizes: [1, 100, 1_000],
    lines: {
      modern: telling({ ...changing, era: 'modern' }),
      'legacy session': telling({ ...changing, era: 'legacy', hasSession: true }),
    },
  },
  {
    name: 'payloads',
    title: 'A result, by its size',
    x: 'bytes',
    y: 'ms of processor time',
    isLinear: true,
    sizes: [1_000, 16_000, 256_000, 1_000_000, 4_000_000, 16_000_000],
    lines: { modern: giving(modern), 'legacy session': giving(legacy), 'bare node:http': giving(bare) },
  },
]

export const growth: OwnCase = {
  kind: 'own',
  name: 'growth',
  says: 'Processor time of the server for a call, a change or a result, by the number of items or their size.',
  find,
}

interface Found extends Plan {
  readonly measured: readonly Line[]
}

async function find(options: RunOptions): Promise<Findings> {
  const found: Found[] = []
  for (const plan of plans) {
    const started = performance.now()
    found.push({ ...plan, measured: await measure(plan, options) })
    options.note(`growth: ${plan.name} (${fixed((performance.now() - started) / 1000, 0)} s)`)
  }
  const lines = found.flatMap((each) => each.measured.map((line) => ({ ...each, line })))
  return {
    name: growth.name,
    says: growth.says,
    header: ['', 'of', 'from', 'to', 'cost at first', 'cost at last', 'steepest', 'expected'],
    rows: lines.map(({ name, line, isLinear }) => rowOf(name, line, isLinear)),
    notes: [
      '![How cost grows](growth.svg)',
      'The steepest step, divided by the expected growth: 1 is as expected, less is better. The cost of large texts grows ' +
        'faster than their size for node:http alone, too, because they do not fit into caches; the targets allow that. ' +
        'The dashed lines show linear growth.',
    ],
    verdicts: lines
      .filter(({ line }) => !isBare(line))
      .map(({ name, line, isLinear, measured }) => verdictOf(name, line, isLinear, measured.find(isBare))),
    files: { 'growth.svg': lineChart(found.map((each) => ({ ...each, lines: each.measured }))) },
    data: Object.fromEntries(found.map(({ name, measured }) => [name, measured])),
  }
}

const ROUNDS = 3

/** A quick run measures only the first and the last value. */
function sizesOf({ sizes }: Plan, { isQuick }: RunOptions): readonly number[] {
  const step = isQuick && sizes.length > 3 ? (sizes.length - 1) / 2 : 1
  return sizes.filter((_, index) => Number.isInteger(index / Math.ceil(step)) || index === sizes.length - 1)
}

/** Measures the lines in turns, so that disturbances affect all of them. */
async function measure(plan: Plan, options: RunOptions): Promise<Line[]> {
  const lines = Object.entries(plan.lines).map(([name, jobFor]) => ({ name, jobFor, points: [] as [number, number][] }))
  for (const size of sizesOf(plan, options)) {
    const costs = lines.map((): number[] => [])
    for (let round = 0; round < (options.isQuick ? 1 : ROUNDS); round++) {
      for (const [index, { jobFor }] of lines.entries())
        costs[index]?.push(await costOf(jobFor(size, options), options))
    }
    for (const [index, { points }] of lines.entries()) points.push([size, median(costs[index] ?? [])])
  }
  return lines.map(({ name, points }) => ({ name, points }))
}

async function costOf(job: Job, { isQuick }: RunOptions): Promise<number> {
  const args = ['--max-semi-space-size=64', driver, JSON.stringify(job)]
  const { cpu, cpu16 } = await leastDisturbed(isQuick ? 1 : undefined, () => readChild<Sample>(args, loadCore))
  return cpu ?? cpu16 ?? Number.NaN
}

function rowOf(name: string, { name: line, points }: Line, isLinear: boolean): string[] {
  const [first, last] = [points[0] ?? [], points.at(-1) ?? []]
  const cost = (value = Number.NaN) => fixed(value, value < 100 ? 2 : 0)
  const [from = 0, to = 0] = [first[0], last[0]]
  return [
    name,
    line,
    fixed(from, 0),
    fixed(to, 0),
    cost(first[1]),
    cost(last[1]),
    fixed(growthFactor(points, isLinear), 2),
    isLinear ? 'linear' : 'the same',
  ]
}

/** The maximum ratio of the measured and the expected growth of a step. */
const CLIFF = 1.5

const isBare = ({ name }: Line) => name.startsWith('bare')

function verdictOf(name: string, { name: line, points }: Line, isLinear: boolean, bare: Line | undefined): Verdict {
  const steep = growthFactor(points, isLinear, bare?.points)
  const linear = bare === undefined ? 'of linear growth' : `of linear growth, or of ${bare.name}'s where that is more`
  const expected = isLinear ? linear : 'of what it was'
  return {
    name: `growth ${name}, ${line}`,
    met: steep <= CLIFF,
    says: `${fixed(steep, 2)} × ${expected}, target ≤ ${CLIFF}`,
  }
}
