/** Calls with telemetry: without an SDK of OpenTelemetry, and with an SDK that exports spans to memory. */
import { fileURLToPath } from 'node:url'
import type { Findings, OwnCase, RunOptions, Verdict } from '../case.ts'
import { readChild } from '../child-process.ts'
import { core } from '../machine.ts'
import { fixed, median } from '../statistics.ts'
import type { Measured, Mode, Place } from '../telemetry-calls.ts'

const program = fileURLToPath(new URL('../telemetry-calls.ts', import.meta.url))

/** The most processor time of a call with `telemetry()` and without an SDK, in relation to one without telemetry. */
const MOST = 1.1

const PLACES: Readonly<Record<Place, string>> = {
  memory: 'client and server in one process',
  stdio: 'client and server over pipes',
  http: 'client and server over HTTP',
  server: 'a `Request` to `mcp()` and the text of its `Response`',
}

const MODES: Readonly<Record<Mode, string>> = {
  without: 'without the option `telemetry`',
  'no-sdk': '`telemetry()`, without an SDK in the process',
  sdk: '`telemetry()` with an SDK: spans to an exporter in memory, and metrics',
}

async function find({ rounds, isQuick, note }: RunOptions): Promise<Findings> {
  const turns = isQuick ? 9 : rounds * 25
  note(`telemetry: ${turns} turns of each transport`)
  const measured = await readChild<Measured>([program, String(turns), isQuick ? '15' : '20'], core)
  const places = Object.keys(PLACES) as Place[]
  const modes = Object.keys(MODES) as Mode[]
  return {
    name: 'telemetry',
    says: telemetry.says,
    header: ['', 'what', 'µs', '× without', 'target'],
    rows: places.flatMap((place) => modes.map((mode) => rowOf(measured, place, mode))),
    notes: [
      `Processor time of one call, of client and server together: the median of ${turns} turns, garbage collection ` +
        'included. In each turn, the three kinds of calls run after each other in the same process, and the ratio is ' +
        'taken within the turn: median [first quartile–third quartile].',
      'Without the option, each message has one check for `undefined`, and the package is not loaded.',
    ],
    verdicts: places.map((place) => verdictOf(measured, place)),
    data: measured,
  }
}

function ratiosOf(measured: Measured, place: Place, mode: Mode): number[] {
  const bases = measured[place].without
  return measured[place][mode].map((value, index) => value / (bases[index] as number)).toSorted((a, b) => a - b)
}

function withQuartiles(sorted: readonly number[]): string {
  const at = (part: number) => fixed(sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN, 2)
  return `${fixed(median(sorted), 2)} [${at(0.25)}–${at(0.75)}]`
}

function rowOf(measured: Measured, place: Place, mode: Mode): string[] {
  const time = fixed(median(measured[place][mode]), 2)
  if (mode === 'without') return [place, `${PLACES[place]}, ${MODES[mode]}`, time, '', '']
  const ratio = withQuartiles(ratiosOf(measured, place, mode))
  return [`${place}-${mode}`, MODES[mode], time, ratio, mode === 'no-sdk' ? `≤ ${MOST}` : '']
}

function verdictOf(measured: Measured, place: Place): Verdict {
  const ratios = ratiosOf(measured, place, 'no-sdk')
  return {
    name: `telemetry ${place}-no-sdk`,
    met: median(ratios) <= MOST,
    says: `${withQuartiles(ratios)} × without, target ≤ ${MOST}`,
  }
}

export const telemetry: OwnCase = {
  kind: 'own',
  name: 'telemetry',
  says: 'A `tools/call` in the modern era, from a client over each transport and back, with telemetry on both sides; and at the server alone.',
  find,
}
