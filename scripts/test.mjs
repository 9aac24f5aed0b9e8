// All checks of the repository, one stage after the other; the last line says how many passed. `npm test [-- stage ...]`
import { endChildrenWithUs } from './children.mjs'
import { bold, dim, elapsed, green, red, showProgress, yellow } from './progress.mjs'
import { root, setup, stop } from './setup.mjs'
import { stages } from './stages.mjs'

/** The proof by the programs of others: its stages share this time, in seconds. At the limit they are stopped, and that is a failure. */
const proof = { stages: ['conformance', 'interop'], limit: 240, spent: 0 }

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !Object.hasOwn(stages, name))
if (unknown !== undefined) stop(`There is no stage '${unknown}': it is one of ${Object.keys(stages).join(', ')}.`)

endChildrenWithUs()
const env = await setup()
const started = performance.now()
const total = { passed: 0, failed: 0 }
const leftOut = []

const run = { root, env }
for (const [name, stage] of Object.entries(stages)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const progress = showProgress(name)
  const isProof = proof.stages.includes(name)
  const limit = isProof ? Math.max(1, proof.limit - proof.spent) : undefined
  const result = await stage(Object.assign(run, { note: progress.note, limit })).catch(broken)
  const seconds = progress.done()
  report(name, result, seconds)
  if (isProof) proof.spent += seconds
  total.passed += result.passed
  total.failed += result.failed
  leftOut.push(...(result.leftOut ?? []).map((what) => `${name}: ${what}`))
}

if (proof.spent > 0) {
  const isLate = proof.spent >= proof.limit
  const found = `${proof.stages.join(' and ')} took ${elapsed(proof.spent)}, and may take ${elapsed(proof.limit)}`
  report(
    'proof',
    { passed: isLate ? 0 : 1, failed: isLate ? 1 : 0, found, output: `${found}: find out what got slow` },
    proof.spent,
  )
  total[isLate ? 'failed' : 'passed'] += 1
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

/** A stage that cannot be run at all is one failed check; the stages after it still run. */
function broken(error) {
  return { passed: 0, failed: 1, found: 'the stage itself broke', output: error.stack ?? String(error) }
}
