/** All checks of one package. */
import { join } from 'node:path'
import { contentFaults } from './contents.ts'
import {
  compileFaults,
  type consumers,
  dependenciesOf,
  type Installed,
  importFaults,
  install,
  lowestVersions,
  optionalPeers,
  programFaults,
  sizeOf,
} from './isolated-install.ts'
import { publintFaults, typeFaults } from './resolution.ts'
import { stackTraceFaults } from './stack-traces.ts'
import type { Tarball } from './tarball.ts'

export interface Outcome {
  readonly passed: number
  /** An entry for each failed check: its name and its findings. */
  readonly faults: readonly string[]
  readonly leftOut: readonly string[]
  /** The line to print. */
  readonly line: string
}

export interface CheckEnvironment {
  /** The repository. */
  readonly root: string
  /** The folder that contains a folder for each package. */
  readonly folder: string
  /** The paths of the Node versions, by name. */
  readonly nodes: Readonly<Record<string, string>>
}

type Check = readonly [name: string, check: () => Promise<readonly string[]>]

/** Checks one tarball; `siblings` are the packages of this repository that it depends on. */
export async function checkPackage(
  tarball: Tarball,
  siblings: readonly Tarball[],
  place: CheckEnvironment,
): Promise<Outcome> {
  const folder = join(place.folder, tarball.manifest.name.replace('/', '-'))
  const first = await runAll([
    ['contents', async () => contentFaults(tarball, place.root)],
    ['publint', () => publintFaults(tarball)],
    ['attw', () => typeFaults(tarball)],
  ])
  const result = await install(dependenciesOf([tarball, ...siblings], optionalPeers(tarball)), folder)
  const size = `${tarball.files.size} files, ${Math.round(tarball.bytes.length / 1000)} kB packed`
  if ('fault' in result) {
    const reason = `not installed, imported and compiled: no package registry is reachable`
    // Without a network these checks are left out, except in CI.
    if (result.noNetwork && process.env.CI === undefined) return { ...first, leftOut: [reason], line: size }
    return { ...first, faults: [...first.faults, `install: ${result.fault}`], leftOut: [], line: size }
  }
  const { installed } = result
  const second = await runAll([
    ...installedChecks(tarball, installed, place),
    ['lowest versions', () => lowestFaults(tarball, siblings, place, folder)],
  ])
  return {
    passed: first.passed + 1 + second.passed,
    faults: [...first.faults, ...second.faults],
    leftOut: [],
    line: `${size}; alone: ${costOf(tarball, installed)}`,
  }
}

/** Imports and compiles the package with the lowest versions that its ranges allow. */
async function lowestFaults(
  tarball: Tarball,
  siblings: readonly Tarball[],
  { root }: CheckEnvironment,
  folder: string,
): Promise<readonly string[]> {
  const lowest = Object.assign({}, ...[...siblings, tarball].map(lowestVersions)) as Record<string, string>
  if (Object.keys(lowest).length === 0) return []
  const result = await install(dependenciesOf([tarball, ...siblings], lowest), `${folder}-lowest`)
  if ('fault' in result) return [result.fault]
  const { installed } = result
  const compiled = await compileFaults(tarball, installed, 'nodenext', root)
  // Old declarations of other packages may have errors.
  const ours = compiled.filter((fault) => /^(?:node_modules\/@mcpx\/|consumer\.ts)/m.test(fault))
  return [...(await importFaults(tarball, installed, process.execPath)), ...ours]
}

/** Returns the installed size, without optional peers, which are installed only for the checks. */
function costOf(tarball: Tarball, installed: Installed): string {
  const peers = Object.keys(optionalPeers(tarball))
  const ofPeers = peers.reduce((sum, name) => sum + sizeOf(join(installed.folder, 'node_modules', name)), 0)
  const kilobytes = installed.kilobytes - Math.round(ofPeers / 1000)
  return `${installed.packages.length - peers.length} packages, ${kilobytes} kB installed`
}

function installedChecks(tarball: Tarball, installed: Installed, { root, nodes }: CheckEnvironment): Check[] {
  return [
    ...Object.entries(nodes).flatMap(([version, node]): Check[] => [
      [`import on Node ${version}`, () => importFaults(tarball, installed, node)],
      ...(tarball.manifest.bin === undefined
        ? []
        : [[`programs on Node ${version}`, () => programFaults(tarball, installed, node)] satisfies Check]),
    ]),
    ...(['nodenext', 'bundler'] satisfies (keyof typeof consumers)[]).map(
      (consumer): Check => [`types (${consumer})`, () => compileFaults(tarball, installed, consumer, root)],
    ),
    ['stack traces', () => stackTraceFaults(tarball.manifest.name, installed, process.execPath)],
  ]
}

async function runAll(checks: readonly Check[]): Promise<{ passed: number; faults: string[] }> {
  const results = await Promise.all(checks.map(async ([name, check]) => ({ name, found: await check() })))
  const failed = results.filter(({ found }) => found.length > 0)
  return {
    passed: results.length - failed.length,
    faults: failed.map(({ name, found }) => `${name}: ${found.join('\n    ')}`),
  }
}
