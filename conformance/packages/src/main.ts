/** Checks each published package as users install it. `npm run check`, or `node conformance/packages/src/main.ts` */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { findRuntimes } from '@mcpx/conformance-runtimes/runtimes'
import { checkCombinations } from './check-combination.ts'
import type { Outcome } from './check-package.ts'
import { checkTemplates, creator } from './check-templates.ts'
import { combinations } from './combinations.ts'
import { readResultCache, resultKey } from './result-cache.ts'
import { pack, type Tarball } from './tarball.ts'

const here = fileURLToPath(new URL('..', import.meta.url))
const root = join(here, '..', '..')
const cache = join(root, '.cache', 'packages')
const flag = { type: 'boolean', default: false } as const
const { values } = parseArgs({ options: { report: { type: 'string' }, fresh: flag } })

const versions = ['node20', 'node22', 'node24'] as const
const runtimes = await findRuntimes(versions)
const nodes = Object.fromEntries(runtimes.map(({ version, path }) => [version, path]))
const missing = versions.filter((name) => !runtimes.some((each) => each.name === name))

// Outside of the repository, so that Node does not find undeclared dependencies in its node_modules.
const alone = mkdtempSync(join(tmpdir(), 'alone-'))
process.on('exit', () => rmSync(alone, { recursive: true, force: true }))
process.once('SIGTERM', () => process.exit(143))

mkdirSync(cache, { recursive: true })
const tarballs = await Promise.all(publishable().map((folder) => pack(folder, cache)))
const results = readResultCache(join(cache, 'results.json'))
const total = {
  passed: 0,
  failed: 0,
  found: `${tarballs.length} packages, ${combinations.length} combinations`,
  details: [] as string[],
  leftOut: missing.map((name) => `import on ${name}: not installed`),
}
const labelOf = ({ manifest }: Tarball): string => `${manifest.name} ${manifest.version}`
for (const outcome of await Promise.all(tarballs.map(checkOne))) add(outcome)
for (const outcome of await checkTogether()) add(outcome)
add(await checkAllTemplates())
if (values.report !== undefined) writeFileSync(values.report, JSON.stringify(total))
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exit(total.failed > 0 || tarballs.length === 0 ? 1 : 0)

/** Returns the folders of the published packages. */
function publishable(): string[] {
  return readdirSync(join(root, 'packages'))
    .map((name) => join(root, 'packages', name))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .filter((folder) => !JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).private)
}

/** Checks a package, unless the same tarball passed recently. */
async function checkOne(tarball: Tarball): Promise<Outcome> {
  const siblings = siblingsOf(tarball)
  const key = resultKey(labelOf(tarball), [tarball, ...siblings], root)
  const known = readCached(key)
  if (known !== undefined) return known
  // Imported lazily, because its compiler takes half a second to load.
  const { checkPackage } = await import('./check-package.ts')
  const outcome = await checkPackage(tarball, siblings, { root, folder: alone, nodes })
  return addToCache(key, { ...outcome, line: `${labelOf(tarball)}: ${outcome.line}` })
}

/** Checks all combinations, unless they passed recently. */
async function checkTogether(): Promise<readonly Outcome[]> {
  const keys = combinations.map(({ of }) => resultKey(of.join(' '), tarballs, root))
  const known = keys.map(readCached).filter((each) => each !== undefined)
  if (known.length === keys.length) return known
  const outcomes = await checkCombinations(tarballs, siblingsOf, alone, Object.values(nodes))
  return outcomes.map((outcome, index) => addToCache(keys[index] ?? '', outcome))
}

/** Checks the templates, unless they passed recently. */
async function checkAllTemplates(): Promise<Outcome> {
  const key = resultKey(`templates of ${creator}`, tarballs, root)
  return readCached(key) ?? addToCache(key, await checkTemplates(tarballs, alone))
}

function readCached(key: string): Outcome | undefined {
  const known = values.fresh ? undefined : results.get(key)
  return known && { ...known, faults: [], leftOut: [], line: `${known.line} (unchanged since it passed)` }
}

function addToCache(key: string, outcome: Outcome): Outcome {
  const isSound = outcome.faults.length + outcome.leftOut.length + missing.length === 0
  if (isSound) results.add(key, outcome.passed, outcome.line)
  return outcome
}

/** Returns the packages of this repository that a package depends on, directly or indirectly. */
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
