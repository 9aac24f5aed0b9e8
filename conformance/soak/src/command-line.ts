/** The command-line options of the soak test. */

import { parseArgs } from 'node:util'
import { DEFECTS, type Defect } from './tools.ts'

export const help = `npm run soak -- [options]

  --duration <seconds>     how long the load lasts; also 90s, 5m or 1h (default: 1h)
  --connections <n>        how many clients are connected at the same time, at least 40 (default: 200)
  --seed <n>               begins the sequence of random numbers (default: 1)
  --rate <n>               the most operations per second; fewer if the machine is busy (default: 300)
  --no-faults              no fault is injected and no process is killed: every error is a failure
  --report <folder>        where soak.json and soak.html are written (default: .cache/soak)
  --defect <names>         puts defects into the server, which the run must find: ${DEFECTS.join(', ')}
`

export interface Settings {
  /** How long the load lasts, in ms. */
  readonly duration: number
  readonly connections: number
  readonly seed: number
  /** The largest number of operations per second. */
  readonly rate: number
  readonly faults: boolean
  /** The folder of the report. */
  readonly report: string
  readonly defects: readonly Defect[]
}

/** The shortest run, in ms. A shorter run has too few samples for a verdict. */
const SHORTEST = 30_000
/** With fewer connections, some kinds would be missing. */
const FEWEST = 40

/** Returns the settings, or `help`. Throws an `Error` that names an invalid option. */
export function readCommandLine(args: readonly string[]): Settings | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', default: false },
      duration: { type: 'string', default: '1h' },
      connections: { type: 'string', default: '200' },
      seed: { type: 'string', default: '1' },
      rate: { type: 'string', default: '300' },
      'no-faults': { type: 'boolean', default: false },
      report: { type: 'string', default: '.cache/soak' },
      defect: { type: 'string' },
    },
  })
  if (values.help) return 'help'
  return {
    duration: readDuration(values.duration),
    connections: readInteger('connections', values.connections, FEWEST),
    seed: readInteger('seed', values.seed, 0),
    rate: readInteger('rate', values.rate, 1),
    faults: !values['no-faults'],
    report: values.report,
    defects: readDefects(values.defect),
  }
}

function readDefects(given: string | undefined): Defect[] {
  const names = given === undefined ? [] : given.split(',')
  return names.map((name) => {
    const defect = DEFECTS.find((each) => each === name)
    if (defect !== undefined) return defect
    throw new Error(`--defect: expected some of ${DEFECTS.join(', ')}, got '${name}'`)
  })
}

const UNITS: Readonly<Record<string, number>> = { '': 1_000, s: 1_000, m: 60_000, h: 3_600_000 }

function readDuration(given: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([smh]?)$/.exec(given) ?? []
  const duration = Number(number) * (UNITS[unit] ?? Number.NaN)
  if (duration >= SHORTEST) return duration
  throw new Error(`--duration: expected ${SHORTEST / 1_000} s or more, such as 180, 90s, 5m or 1h, got '${given}'`)
}

function readInteger(name: string, given: string, least: number): number {
  const value = Number(given)
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new Error(`--${name}: expected an integer from ${least}, got '${given}'`)
}
