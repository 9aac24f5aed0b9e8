/** Writes the report of a run: `soak.json`, and `soak.html` with charts, which needs no other file. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { drawLegend, drawPanel, escapeHtml, formatNumber, type Line, type Panel } from './chart.ts'
import type { Settings } from './command-line.ts'
import type { Resources } from './resources.ts'
import { countHandles, type Latency, type Recording, type Sample } from './samples.ts'
import { type Check, workOf } from './verdict.ts'

export function writeReport(folder: string, settings: Settings, recording: Recording, checks: readonly Check[]): void {
  mkdirSync(folder, { recursive: true })
  const machine = { node: process.version, processors: availableParallelism(), model: cpus()[0]?.model ?? 'unknown' }
  const report = { settings, machine, checks, ...recording }
  writeFileSync(join(folder, 'soak.json'), `${JSON.stringify(report, null, 2)}\n`)
  writeFileSync(join(folder, 'soak.html'), createPage(settings, machine, recording, checks))
}

/** The operations of a connection per hour in real use: one call in 20 s for a working day of 8 hours, averaged over 24 hours. */
const REAL_RATE = 60

/** Describes how long the same number of connections takes for these operations in real use. */
export function describeEquivalent(operations: number, connections: number): string {
  const hours = operations / (connections * REAL_RATE)
  return `as many operations as in ${hours.toFixed(1)} hours of ${connections} connections with ${REAL_RATE} per hour each`
}

const PERCENTILES: readonly (readonly [string, keyof Latency])[] = [
  ['p50', 'p50'],
  ['p95', 'p95'],
  ['p99', 'p99'],
  ['p99.9', 'p999'],
]
const MEGABYTE = 1024 * 1024

/** Returns the charts of the samples. */
export function createPanels(samples: readonly Sample[]): Panel[] {
  const names = [...new Set(samples.flatMap(({ processes }) => Object.keys(processes)))]
  const ofProcesses = (read: (resources: Resources) => number) =>
    names.map((name) => toLine(name, samples, ({ processes }) => processes[name] && read(processes[name])))
  const ofLatency = PERCENTILES.map(([name, key]) => toLine(name, samples, ({ latency }) => latency?.[key]))
  return [
    { title: 'Heap after garbage collection', unit: 'MB', lines: ofProcesses(({ heap }) => heap / MEGABYTE) },
    { title: 'Resident memory', unit: 'MB', lines: ofProcesses(({ rss }) => rss / MEGABYTE) },
    { title: 'Handles', unit: 'number', lines: ofProcesses(countHandles) },
    {
      title: 'Processor time per operation of the clients, and per message of the server',
      unit: 'ms',
      lines: ['client', 'server'].map((name) => toWorkLine(name, samples)),
    },
    {
      title: 'Sessions in the store, and streams of the server',
      unit: 'number',
      lines: [
        toLine('sessions', samples, ({ held }) => held?.sessions),
        toLine('streams', samples, ({ held }) => held?.streams),
      ],
    },
    { title: 'Delay of the event loop, p99', unit: 'ms', lines: ofProcesses(({ loopDelay }) => loopDelay.p99) },
    {
      title: 'Throughput',
      unit: 'operations per second',
      lines: [toLine('operations', samples, ({ throughput }) => throughput)],
    },
    { title: 'Duration of plain calls', unit: 'ms', lines: ofLatency },
  ]
}

function toWorkLine(name: string, samples: readonly Sample[]): Line {
  const points = workOf(name, samples).flatMap(({ at, work }): [number, number][] =>
    work === undefined ? [] : [[at, work]],
  )
  return { name, points }
}

function toLine(name: string, samples: readonly Sample[], read: (sample: Sample) => number | undefined): Line {
  const points = samples.flatMap((sample): [number, number][] => {
    const value = read(sample)
    return value === undefined ? [] : [[sample.at, value]]
  })
  return { name, points }
}

const STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --grey: #59636e; --line: #d1d9e0; --back: #fff; --good: #1a7f37; --bad: #cf222e;
  --c0: #0969da; --c1: #bf3989; --c2: #1a7f37; --c3: #bc4c00; --c4: #8250df; --c5: #9a6700 }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --grey: #9198a1; --line: #3d444d; --back: #0d1117; --good: #3fb950; --bad: #f85149;
  --c0: #4493f8; --c1: #f778ba; --c2: #3fb950; --c3: #f0883e; --c4: #ab7df8; --c5: #d29922 } }
body { font: 14px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 1200px; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin-bottom: .25rem } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }
.grey { color: var(--grey) } .good { color: var(--good) } .bad { color: var(--bad) }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 1.5rem }
figure { margin: 0 } figcaption { color: var(--grey); font-size: 12px; padding-left: 62px } figcaption span { margin-right: 12px; white-space: nowrap }
figcaption i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 5px; background: var(--c) }
svg { width: 100%; height: auto } svg text { font: 12px system-ui, sans-serif; fill: var(--grey) } svg .title { font-weight: 600; font-size: 14px; fill: var(--text) }
svg line { stroke: var(--line) } polyline { fill: none; stroke: var(--c); stroke-width: 1.8; stroke-linejoin: round }
.c0 { --c: var(--c0) } .c1 { --c: var(--c1) } .c2 { --c: var(--c2) } .c3 { --c: var(--c3) } .c4 { --c: var(--c4) } .c5 { --c: var(--c5) }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: 3px 12px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }`

function createPage(
  { duration, connections, seed, faults }: Settings,
  machine: { node: string; processors: number; model: string },
  recording: Recording,
  checks: readonly Check[],
): string {
  const { samples, outcomes, failures, problems } = recording
  const isFlat = checks.every(({ passed }) => passed)
  const operations = formatNumber(samples.at(-1)?.operations ?? 0)
  const end = Math.max(duration, samples.at(-1)?.at ?? 0)
  const equivalent = describeEquivalent(samples.at(-1)?.operations ?? 0, connections)
  const facts = `${connections} connections, ${formatNumber(duration / 1_000)} s, ${faults ? 'with' : 'without'} faults, seed ${seed}; ${equivalent}`
  const charts = createPanels(samples).map(
    (panel) => `<figure>${drawPanel(panel, end)}<figcaption>${drawLegend(panel.lines)}</figcaption></figure>`,
  )
  const errors = Object.entries(outcomes).flatMap(([operation, counts]) =>
    Object.entries(counts)
      .filter(([outcome]) => outcome !== 'result')
      .map(([outcome, count]): Cell[] => [outcome, operation, count]),
  )
  const results = Object.entries(outcomes).map(([name, counts]): Cell[] => [name, counts.result ?? 0])
  const notes = Object.entries(problems).flatMap(([side, counts]) =>
    Object.entries(counts).map(([text, count]): Cell[] => [side, text, count]),
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Soak test</title><style>${STYLE}</style></head><body>
<h1>Soak test: <span class="${isFlat ? 'good">flat' : 'bad">not flat'}</span>, ${operations} operations</h1>
<div class="grey">${escapeHtml(`${facts}; Node ${machine.node}, ${machine.processors} processors, ${machine.model}`)}</div>
<h2>Over time</h2><div class="charts">${charts.join('\n')}</div>
<h2>Verdict</h2><table>${checks.map(({ name, passed, found }) => `<tr><td class="${passed ? 'good">passed' : 'bad">failed'}</td><td>${escapeHtml(name)}</td><td>${escapeHtml(found)}</td></tr>`).join('\n')}</table>
${createTable(
  'Failures',
  ['after', 'operation', 'problem'],
  failures.map(({ at, operation, problem }) => [`${formatNumber(at / 1_000)} s`, operation, problem]),
)}
${createTable('Errors by name', ['error', 'operation', 'number'], errors)}
${createTable('Warnings and reported errors', ['side', 'message', 'number'], notes)}
${createTable('Results', ['operation', 'number'], results)}
</body></html>
`
}

type Cell = string | number

function createTable(title: string, heads: readonly string[], rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return ''
  const cells = (row: readonly Cell[]) =>
    row.map((cell) =>
      typeof cell === 'number' ? `<td class="number">${formatNumber(cell)}</td>` : `<td>${escapeHtml(cell)}</td>`,
    )
  const body = rows.map((row) => `<tr>${cells(row).join('')}</tr>`).join('\n')
  return `<h2>${title}</h2><table><tr>${heads.map((head) => `<th${head === 'number' ? ' class="number"' : ''}>${head}</th>`).join('')}</tr>\n${body}</table>`
}
