/** Runs every example with `npm start`. `node conformance/runtimes/src/examples.ts` */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { endAll, start } from './programs.ts'
import { findRuntimes, type RuntimeName } from './runtimes.ts'

const { values } = parseArgs({ options: { report: { type: 'string' } } })
process.on('exit', endAll)
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(143))

/** The runtimes that examples need besides Node. */
const needs: Readonly<Record<string, RuntimeName>> = {
  browser: 'chromium',
  bun: 'bun',
  deno: 'deno',
  'edge-worker': 'workerd',
  skills: 'workerd',
  'weather-view': 'chromium',
}

/** The beginning of a line with which an example reports a part that this machine cannot run. */
const LEFT_OUT = 'left out: '

const folder = fileURLToPath(new URL('../../../apps/examples', import.meta.url))
const names = readdirSync(folder)
  .filter((name) => existsSync(join(folder, name, 'package.json')))
  .sort()
const found = new Set((await findRuntimes()).map(({ name }) => name))
const total = {
  passed: 0,
  failed: 0,
  found: `${names.length} examples`,
  details: [] as string[],
  leftOut: [] as string[],
}

await Promise.all(names.map(run))
if (values.report !== undefined) writeFileSync(values.report, JSON.stringify(total))
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0)

async function run(name: string): Promise<void> {
  const needed = needs[name]
  if (needed !== undefined && !found.has(needed)) {
    total.leftOut.push(`${name}: ${needed} is not installed`)
    return
  }
  const started = performance.now()
  const program = start('npm', ['start', '--silent', '--prefix', join(folder, name)])
  const outcome = await program.ended().catch((error: Error) => error)
  const missing = program.lines.filter((line) => line.startsWith(LEFT_OUT))
  total.leftOut.push(...missing.map((line) => `${name}: ${line.slice(LEFT_OUT.length)}`))
  if (outcome === 'ok') {
    total.passed += 1
    total.details.push(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`)
    console.log(total.details.at(-1))
    return
  }
  total.failed += 1
  console.log(
    `FAILED ${name}: ${outcome instanceof Error ? outcome.message : `expected the last line "ok", got "${outcome}"`}`,
  )
}
