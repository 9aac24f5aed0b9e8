/** Checks each published package as its users get it. `npm run check`, or `node conformance/packages/src/main.ts` */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Outcome } from './check-package.ts'
import { pack, type Tarball } from './tarball.ts'
import { run } from './tool.ts'
import { readVerdicts, verdictKey } from './verdicts.ts'

const here = fileURLToPath(new URL('..', import.meta.url))
const root = join(here, '..', '..')
const cache = join(root, '.cache', 'packages')
const { values } = parseArgs({ options: { report: { type: 'string' }, fresh: { type: 'boolean', default: false } } })

const nodes: Record<string, string> = {}
for (const alias of ['node20', 'node22']) {
  const path = join(here, 'node_modules', alias, 'bin', 'node')
  const { code, stdout } = existsSync(path) ? await run(path, ['--version'], here) : { code: 1, stdout: '' }
  if (code === 0) nodes[stdout.trim()] = path
}
nodes[process.version] = process.execPath
const missing = ['v20', 'v22', 'v24'].filter(
  (major) => !Object.keys(nodes).some((each) => each.startsWith(`${major}.`)),
)

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
  found: `${tarballs.length} packages`,
  details: [] as string[],
  leftOut: missing.map((major) => `Node ${major}`),
}
const judged = await Promise.all(tarballs.map(async (tarball) => ({ tarball, outcome: await judge(tarball) })))
for (const { tarball, outcome } of judged) add(tarball, outcome)
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
  const key = verdictKey([tarball, ...siblings], root)
  const known = values.fresh ? undefined : verdicts.get(key)
  if (known !== undefined)
    return { ...known, faults: [], leftOut: [], line: `${known.line} (unchanged since it passed)` }
  // Loaded only when needed: the compiler that comes with it takes half a second to start.
  const { checkPackage } = await import('./check-package.ts')
  const outcome = await checkPackage(tarball, siblings, { root, folder: alone, nodes })
  if (outcome.faults.length + outcome.leftOut.length + missing.length === 0)
    verdicts.add(key, outcome.passed, outcome.line)
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

function add({ manifest }: Tarball, { passed, faults, leftOut, line }: Outcome): void {
  const about = `${manifest.name} ${manifest.version}: ${line}`
  console.log(about)
  total.details.push(about)
  for (const fault of faults) console.log(`  FAILED ${fault}`)
  total.passed += passed
  total.failed += faults.length
  total.leftOut.push(...leftOut.map((what) => `${manifest.name} ${what}`))
}
