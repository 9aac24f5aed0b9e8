/** Checks the rules of the architecture and prints their violations. `node scripts/check-architecture.ts` */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readRepository } from './architecture/repository.ts'
import { rules } from './architecture/rules.ts'

const { values } = parseArgs({ options: { report: { type: 'string' } } })
const repository = readRepository(fileURLToPath(new URL('..', import.meta.url)))

let failed = 0
for (const { name, says, check } of rules) {
  const violations = check(repository)
  if (violations.length === 0) continue
  failed += 1
  console.log(`\n${name}: ${says}`)
  for (const { path, line, what } of violations) console.log(`  ${path}${line === undefined ? '' : `:${line}`} ${what}`)
}

const passed = rules.length - failed
const found = `${rules.length} rules over ${repository.packages.length} packages`
console.log(`\n${found}: ${passed} passed, ${failed} failed`)
if (values.report !== undefined) writeFileSync(values.report, JSON.stringify({ passed, failed, found }))
process.exit(failed === 0 && repository.packages.length > 0 ? 0 : 1)
