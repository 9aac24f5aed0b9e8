/** Checks that a short run finds the defects of a server. `node conformance/soak/src/defects.ts` */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { readCommandLine, type Settings } from './command-line.ts'
import { writeReport } from './report.ts'
import { run } from './run.ts'
import type { Defect } from './tools.ts'
import { judge } from './verdict.ts'

/** The check that each defect must fail. A lost response is left out: it would need the time limit of an operation. */
const FOUND_BY: Readonly<Record<Exclude<Defect, 'lost'>, string>> = {
  heap: 'heap of server: flat',
  handles: 'handles of server: freed',
  sessions: 'no session, stream or request is left',
  slow: 'processor time of server: flat',
  unnamed: 'each operation has a result, or an error that a fault explains',
}

const names = Object.keys(FOUND_BY).join(',')
const folder = mkdtempSync(join(tmpdir(), 'mcpx-soak-defects-'))
const args = ['--duration', '45', '--connections', '40', '--rate', '100', '--report', folder, '--defect', names]
const settings = readCommandLine(args) as Settings
const recording = await run(settings, () => {})
const checks = judge(recording)
writeReport(folder, settings, recording, checks)

let missed = 0
for (const [defect, name] of Object.entries(FOUND_BY)) {
  const check = checks.find((each) => each.name === name)
  const isFound = check?.passed === false
  if (!isFound) missed += 1
  console.log(`${isFound ? 'ok    ' : 'FAILED'} ${defect}: ${name}: ${check?.found}`)
}
if (missed === 0) rmSync(folder, { recursive: true })
else console.log(`The report is in ${folder}`)
console.log(`${Object.keys(FOUND_BY).length - missed} of ${Object.keys(FOUND_BY).length} defects found`)
process.exit(missed === 0 ? 0 : 1)
