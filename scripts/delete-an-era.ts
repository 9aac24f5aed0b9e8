/**
 * The law of the eras: delete every `legacy*` file, and each line of a `select.ts` that names one, and what is left still
 * compiles. Works on a copy. `node scripts/delete-an-era.ts`
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const copy = join(root, '.cache', 'delete-an-era')
const { values } = parseArgs({ options: { report: { type: 'string' } } })

rmSync(copy, { recursive: true, force: true })
mkdirSync(join(copy, 'packages'), { recursive: true })
for (const name of ['tsconfig.json', 'tsconfig.base.json']) cpSync(join(root, name), join(copy, name))
const names = readdirSync(join(root, 'packages'))
for (const name of names) copyPackage(name)

const sources = names.flatMap((name) => {
  const folder = join(copy, 'packages', name, 'src')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))
})
const doomed = sources.filter((path) => /\/legacy(?![a-z])/.test(relative(copy, path)))
for (const path of doomed) rmSync(path, { recursive: true, force: true })
const lines = sources.filter((path) => basename(path) === 'select.ts').map(forgetLegacy)

const { status, stdout, stderr } = spawnSync('tsc', ['-b'], { cwd: copy, encoding: 'utf8' })
const found = `${doomed.length} files and ${lines.reduce((sum, each) => sum + each, 0)} lines deleted in ${names.length} packages`
console.log(`${stdout}${stderr}${found}: what is left ${status === 0 ? 'compiles' : 'does not compile'}`)
const passed = status === 0 ? 1 : 0
if (values.report !== undefined) writeFileSync(values.report, JSON.stringify({ passed, failed: 1 - passed, found }))
process.exit(1 - passed)

/** Copies the sources of a package; it finds its dependencies where they are, and the packages of ours in the copy. */
function copyPackage(name: string): void {
  const from = join(root, 'packages', name)
  const to = join(copy, 'packages', name)
  for (const part of ['package.json', 'tsconfig.json', 'tsconfig.node.json', 'src']) {
    if (existsSync(join(from, part))) cpSync(join(from, part), join(to, part), { recursive: true, filter: isProduct })
  }
  for (const dependency of dependenciesOf(from)) {
    const ours = dependency.startsWith('@mcpx/')
    const target = ours ? join(copy, 'packages', basename(dependency)) : join(from, 'node_modules', dependency)
    const link = join(to, 'node_modules', dependency)
    mkdirSync(join(link, '..'), { recursive: true })
    symlinkSync(target, link)
  }
}

function isProduct(path: string): boolean {
  return !/\.test(?:-d)?\.ts$/.test(path)
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
