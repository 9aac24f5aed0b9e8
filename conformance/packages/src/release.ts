/** Prepares a release without publishing it. `npm run release:dry`; with `-- --pack` only the tarballs */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { endAll } from '@mcpx/conformance-runtimes/programs'
import { findRuntimes, type RuntimeName } from '@mcpx/conformance-runtimes/runtimes'
import { type Consumer, javascriptOn, typescript } from './consumers.ts'
import { contentFaults } from './contents.ts'
import { dependenciesOf, optionalPeers } from './isolated-install.ts'
import { page } from './page-consumer.ts'
import { copyWithVersions } from './release-copy.ts'
import { pack } from './tarball.ts'
import { run } from './tool.ts'

const { values } = parseArgs({ options: { pack: { type: 'boolean', default: false } } })
const repository = fileURLToPath(new URL('../../..', import.meta.url))
const destination = join(repository, '.cache', 'release')
const counts = { passed: 0, failed: 0 }
const folders: string[] = []
process.on('exit', () => {
  endAll()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(143))

console.log('versions, by the changesets:')
const copy = await copyWithVersions(repository)
folders.push(copy.root)
for (const change of copy.changes) printCheck(change, change.includes(' 0.0.0 -> 0.0.0') ? 'no changeset names it' : '')

console.log('\ntarballs, in .cache/release:')
rmSync(destination, { recursive: true, force: true })
mkdirSync(destination, { recursive: true })
const tarballs = await Promise.all(copy.folders.map((folder) => pack(folder, destination)))
for (const [index, tarball] of tarballs.entries()) {
  const { name, version } = tarball.manifest
  const faults = [...contentFaults(tarball, repository), ...changeLogFaults(copy.folders[index] ?? '', version)]
  printCheck(
    `${name} ${version}: ${tarball.files.size} files, ${Math.round(tarball.bytes.length / 1000)} kB`,
    faults.join('\n'),
  )
}

if (!values.pack) await runConsumers()
console.log(`\n${counts.passed} passed, ${counts.failed} failed. Nothing was published.`)
process.exit(counts.failed === 0 ? 0 : 1)

function changeLogFaults(folder: string, version: string): string[] {
  const path = join(folder, 'CHANGELOG.md')
  const isThere = existsSync(path) && readFileSync(path, 'utf8').includes(`## ${version}`)
  return isThere ? [] : [`its CHANGELOG.md has no entry for ${version}`]
}

async function runConsumers(): Promise<void> {
  console.log('\nconsumers of the packages:')
  const folder = mkdtempSync(join(tmpdir(), 'consumer-'))
  folders.push(folder)
  const error = await installAll(folder)
  printCheck('install', error)
  if (error === '') for (const { name, faults } of await consumersIn(folder)) printCheck(name, await faults())
}

/** Installs all packages with their peers and tools, in the newest versions. */
async function installAll(folder: string): Promise<string> {
  const root = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  const peers = Object.assign({}, ...tarballs.map(optionalPeers)) as Record<string, string>
  const dependencies = dependenciesOf(tarballs, { ...peers, zod: '^4.2.0' })
  const devDependencies = {
    '@types/node': '^20.0.0',
    typescript: root.devDependencies.typescript,
    'typescript-5': 'npm:typescript@~5.9.0',
    'typescript-5.7': 'npm:typescript@~5.7.0',
    vite: '^8.0.0',
  }
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies, devDependencies }),
  )
  const args = ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  const { code, output } = await run('npm', args, folder)
  return code === 0 ? '' : output
}

async function consumersIn(folder: string): Promise<Consumer[]> {
  const home = { folder, repository }
  const names: readonly RuntimeName[] = ['node20', 'node22', 'node24', 'bun', 'deno']
  const runtimes = await findRuntimes(names)
  const [chromium] = await findRuntimes(['chromium'])
  for (const name of names)
    if (!runtimes.some((each) => each.name === name)) console.log(`left out: ${name} is not on this machine`)
  const oldest = runtimes[0]?.path ?? process.execPath
  return [
    ...runtimes.map((runtime) => javascriptOn(runtime, home)),
    ...['typescript', 'typescript-5', 'typescript-5.7'].flatMap((compiler) =>
      (['nodenext', 'bundler'] as const).map((resolution) => typescript(compiler, resolution, oldest, home)),
    ),
    page(home, chromium),
  ]
}

function printCheck(check: string, fault: string): void {
  counts[fault === '' ? 'passed' : 'failed'] += 1
  console.log(fault === '' ? `  ok      ${check}` : `  FAILED  ${check}\n${fault.replace(/^/gm, '          ')}`)
}
