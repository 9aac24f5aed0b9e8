/** Checks each published package as its users get it. `npm run check`, or `node conformance/packages/src/main.ts` */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { findRuntimes } from '@mcpx/conformance-runtimes/runtimes'
import { checkCombinations } from './check-combination.ts'
import type { Outcome } from './check-package.ts'
import { combinations } from './combinations.ts'
import { pack, type Tarball } from './tarball.ts'
import { readVerdicts, verdictKey } from './verdicts.ts'

const here = fileURLToPath(new URL('..', import.meta.url))
const root = join(here, '..', '..')
const cache = join(root, '.cache', 'packages')
const flag = { type: 'boolean', default: false } as const
const { values } = parseArgs({ options: { report: { type: 'string' }, fresh: flag } })

const versions = ['node20', 'node22', 'node24'] as const
const runtimes = await findRuntimes(versions)
const nodes = Object.fromEntries(runtimes.map(({ version, path }) => [version, path]))
const missing = versions.filter((name) => !runtimes.some((each) => each.name === name))

// Outside of the repository: inside, Node would find in its node_modules what a package forgot to declare.
const alone = mkdtempSync(join(tmpdir(), 'alone-'))
process.on('exit', () => rmSync(alone, { recursive: true, force: true }))
process.once('SIGTERM', () => process.exit(143))

mkdirSync(cache, { recursive: true })
const tarballs = await Promise.all(publishable().map((folder) => pack(folder, cache)))
const verdicts = readVerdicts(join(cache, 'verdicts.json'))
const total = {
  passed: 0,
  failed: 0,
  found: `${tarballs.length} packages, ${combinations.length} combinations`,
  details: [] as string[],
  leftOut: missing.map((name) => `import on ${name}: it is not there`),
}
const labelOf = ({ manifest }: Tarball): string => `${manifest.name} ${manifest.version}`
for (const outcome of await Promise.all(tarballs.map(judge))) add(outcome)
for (const outcome of await judgeTogether()) add(outcome)
if (values.report !== undefined) writeFileSync(values.report, JSON.stringify(total))
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exit(total.failed > 0 || tarballs.length === 0 ? 1 : 0)

/** The folders of the packages that are published. */
function publishable(): string[] {
  return readdirSync(join(root, 'packages'))
    .map((name) => join(root, 'packages', name))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .filter((folder) => !JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).private)
}

/** Checks a package, or finds that exactly this one passed not long ago. */
async function judge(tarball: Tarball): Promise<Outcome> {
  const siblings = siblingsOf(tarball)
  const key = verdictKey(labelOf(tarball), [tarball, ...siblings], root)
  const known = recall(key)
  if (known !== undefined) return known
  // Loaded only when needed: the compiler that comes with it takes half a second to start.
  const { checkPackage } = await import('./check-package.ts')
  const outcome = await checkPackage(tarball, siblings, { root, folder: alone, nodes })
  return remember(key, { ...outcome, line: `${labelOf(tarball)}: ${outcome.line}` })
}

/** Checks all combinations, or finds that they passed not long ago: they need each other. */
async function judgeTogether(): Promise<readonly Outcome[]> {
  const keys = combinations.map(({ of }) => verdictKey(of.join(' '), tarballs, root))
  const known = keys.map(recall).filter((each) => each !== undefined)
  if (known.length === keys.length) return known
  const outcomes = await checkCombinations(tarballs, siblingsOf, alone)
  return outcomes.map((outcome, index) => remember(keys[index] ?? '', outcome))
}

function recall(key: string): Outcome | undefined {
  const known = values.fresh ? undefined : verdicts.get(key)
  return known && { ...known, faults: [], leftOut: [], line: `${known.line} (unchanged since it passed)` }
}

function remember(key: string, outcome: Outcome): Outcome {
  const isSound = outcome.faults.length + outcome.leftOut.length + missing.length === 0
  if (isSound) verdicts.add(key, outcome.passed, outcome.line)
  return outcome
}

/** The packages of ours that one depends on, directly or not. */
function siblingsOf(tarball: Tarball): Tarball[] {
  const found = new Set([tarball])
  for (const { manifest } of found) {
    const names = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    for (const each of tarballs) if (names.includes(each.manifest.name)) found.add(each)
  }
  found.delete(tarball)
  return [...found]
}

function add({ passed, faults, leftOut, line }: Outcome): void {
  console.log(line)
  total.details.push(line)
  for (const fault of faults) console.log(`  FAILED ${fault}`)
  total.passed += passed
  total.failed += faults.length
  total.leftOut.push(...leftOut.map((what) => `${line.replace(/:.*/s, '')}: ${what}`))
}
