// Runs all checks of the repository, stage by stage; the last line says how many passed. `npm test [-- stage ...]`
import { endChildrenWithUs } from './children.mjs'
import { bold, dim, elapsed, green, red, showProgress, yellow } from './progress.mjs'
import { root, setup, stop } from './setup.mjs'
import { stages } from './stages.mjs'

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !Object.hasOwn(stages, name))
if (unknown !== undefined) stop(`stage: expected one of ${Object.keys(stages).join(', ')}, got '${unknown}'.`)

endChildrenWithUs()
const env = await setup()
const started = performance.now()
const total = { passed: 0, failed: 0 }
const leftOut = []

const run = { root, env, isNamed: wanted.length > 0 }
for (const [name, stage] of Object.entries(stages)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const progress = showProgress(name)
  const result = await stage(Object.assign(run, { note: progress.note })).catch(broken)
  const seconds = progress.done()
  report(name, result, seconds)
  total.passed += result.passed
  total.failed += result.failed
  leftOut.push(...(result.leftOut ?? []).map((what) => `${name}: ${what}`))
}

for (const what of leftOut) console.log(`${yellow('left out:')} ${what}`)
console.log(dim(`all stages in ${elapsed((performance.now() - started) / 1000)}`))
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0)

function report(name, { passed, failed, found, output, details = [] }, seconds) {
  if (failed > 0) console.log(`${output.trimEnd()}\n`)
  const sign = failed > 0 ? red('FAILED') : green('ok    ')
  console.log(`${sign} ${bold(name.padEnd(11))} ${passed} passed, ${failed} failed  ${found}  ${dim(elapsed(seconds))}`)
  if (failed === 0) for (const line of details) console.log(dim(`       ${line}`))
}

/** A stage that throws is one failed check; the stages after it still run. */
function broken(error) {
  return { passed: 0, failed: 1, found: 'the stage itself failed', output: error.stack ?? String(error) }
}
