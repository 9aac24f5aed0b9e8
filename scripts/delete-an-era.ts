/**
 * The law of the eras: delete every `legacy*` file, and each line of a `select.ts` that names one, and what is left
 * compiles and passes its tests. A test that needs the deleted era says so: its file begins with `legacy`, or its name
 * holds one of the words below, or a revision of that era. Works on a copy. `node scripts/delete-an-era.ts`
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/** What says in the name of a test that it needs the era; only that era has sessions. */
const needing = ['legacy', 'older', 'oldest', 'both eras', 'each era', 'session', '2024-11-05', '2025-\\d\\d-\\d\\d']

const root = fileURLToPath(new URL('..', import.meta.url))
const copy = join(root, '.cache', 'delete-an-era')
const { values } = parseArgs({ options: { report: { type: 'string' } } })

rmSync(copy, { recursive: true, force: true })
mkdirSync(join(copy, 'packages'), { recursive: true })
for (const name of ['tsconfig.json', 'tsconfig.base.json', 'vitest.config.ts', 'package.json']) {
  cpSync(join(root, name), join(copy, name))
}
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
const names = readdirSync(join(root, 'packages'))
for (const name of names) copyPackage(name)

const sources = names.flatMap((name) => {
  const folder = join(copy, 'packages', name, 'src')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))
})
const doomed = sources.filter((path) => /\/legacy(?![a-z])/.test(relative(copy, path)))
for (const path of doomed) rmSync(path, { recursive: true, force: true })
const lines = sources.filter((path) => basename(path) === 'select.ts').map(forgetLegacy)
console.log(
  `${doomed.length} files and ${lines.reduce((sum, each) => sum + each, 0)} lines deleted in ${names.length} packages`,
)

const compiles = run('tsc', ['-b'])
const tests = compiles ? runTests() : { passed: 0, failed: 0, leftOut: 0 }
const verdict = compiles ? 'compiles' : 'does not compile'
const found = `${doomed.length} files deleted; what is left ${verdict}, and ${tests.passed} of its tests pass (${tests.leftOut} need the era)`
console.log(found)
const passed = tests.passed + (compiles ? 1 : 0)
const failed = tests.failed + (compiles ? 0 : 1)
if (values.report !== undefined) writeFileSync(values.report, JSON.stringify({ passed, failed, found }))
process.exit(failed === 0 ? 0 : 1)

/** Copies a package with its tests; it finds its dependencies where they are, and the packages of ours in the copy. */
function copyPackage(name: string): void {
  const from = join(root, 'packages', name)
  const to = join(copy, 'packages', name)
  for (const part of ['package.json', 'tsconfig.json', 'tsconfig.node.json', 'README.md', 'src', 'test']) {
    if (existsSync(join(from, part))) cpSync(join(from, part), join(to, part), { recursive: true })
  }
  for (const dependency of dependenciesOf(from)) {
    const ours = dependency.startsWith('@mcpx/')
    const target = ours ? join(copy, 'packages', basename(dependency)) : join(from, 'node_modules', dependency)
    const link = join(to, 'node_modules', dependency)
    mkdirSync(join(link, '..'), { recursive: true })
    symlinkSync(target, link)
  }
}

function dependenciesOf(folder: string): string[] {
  const modules = join(folder, 'node_modules')
  if (!existsSync(modules)) return []
  return readdirSync(modules).flatMap((name) => {
    if (name.startsWith('.')) return []
    return name.startsWith('@') ? readdirSync(join(modules, name)).map((each) => `${name}/${each}`) : [name]
  })
}

/** Takes the lines that name the legacy era out of a `select.ts`; returns how many. */
function forgetLegacy(path: string): number {
  const before = readFileSync(path, 'utf8').split('\n')
  const after = before.filter((line) => !/legacy/i.test(line))
  writeFileSync(path, after.join('\n'))
  return before.length - after.length
}

/** Runs the tests that do not say that they need the era. A file that cannot be loaded is a failed test. */
function runTests(): { passed: number; failed: number; leftOut: number } {
  const file = join(copy, 'tests.json')
  const others = `^(?!.*(?:${needing.join('|')}))`
  // What lost nothing is tested where it is.
  const folders = names
    .map((name) => `packages/${name}/`)
    .filter((folder) => doomed.some((path) => path.includes(folder)))
  const args = [
    'run',
    ...folders,
    '-t',
    others,
    '--testTimeout=20000',
    '--reporter=dot',
    '--reporter=json',
    `--outputFile.json=${file}`,
  ]
  const ok = run('vitest', args)
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report
  const unloaded = report.testResults.filter((each) => each.status === 'failed' && each.assertionResults.length === 0)
  const failed = report.numFailedTests + unloaded.length
  return {
    passed: report.numPassedTests,
    failed: ok ? failed : Math.max(failed, 1),
    leftOut: report.numTotalTests - report.numPassedTests - report.numFailedTests,
  }
}

interface Report {
  readonly numTotalTests: number
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[]
}

/** What a tool says is shown when it fails. */
function run(command: string, args: string[]): boolean {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: copy, encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (status !== 0) console.log(`${stdout}${stderr}`)
  return status === 0
}
