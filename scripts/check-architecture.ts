/** Checks the laws of the architecture and says where they are broken. `node scripts/check-architecture.ts` */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { laws } from './laws/laws.ts'
import { readTree } from './laws/tree.ts'

const { values } = parseArgs({ options: { report: { type: 'string' } } })
const tree = readTree(fileURLToPath(new URL('..', import.meta.url)))

let broken = 0
for (const { name, says, check } of laws) {
  const violations = check(tree)
  if (violations.length === 0) continue
  broken += 1
  console.log(`\n${name}: ${says}`)
  for (const { path, line, what } of violations) console.log(`  ${path}${line === undefined ? '' : `:${line}`} ${what}`)
}

const found = `${laws.length} laws over ${tree.sources.length} source files in ${tree.packages.length} packages`
console.log(`\n${found}: ${laws.length - broken} hold, ${broken} broken`)
if (values.report !== undefined) {
  writeFileSync(values.report, JSON.stringify({ passed: laws.length - broken, failed: broken, found }))
}
process.exit(broken === 0 && tree.sources.length > 0 ? 0 : 1)
