/** Installs packages together, checks the installed dependencies, and runs a program. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Outcome } from './check-package.ts'
import { type Combination, combinations, servers } from './combinations.ts'
import { dependenciesOf, install, optionalPeers } from './isolated-install.ts'
import type { Tarball } from './tarball.ts'
import { run } from './tool.ts'

/** The packages to install: our tarballs, and packages of others with their ranges. */
export interface InstallRequest {
  readonly tarballs: readonly Tarball[]
  readonly others: Readonly<Record<string, string>>
}

/**
 * Checks all combinations in folders below `place`. The first combination contains all packages. `nodes` are paths of
 * Node.
 */
export async function checkCombinations(
  tarballs: readonly Tarball[],
  siblingsOf: (tarball: Tarball) => readonly Tarball[],
  place: string,
  nodes: readonly string[],
): Promise<Outcome[]> {
  const ranges = Object.assign({}, ...tarballs.map(optionalPeers)) as Record<string, string>
  const everything = join(place, 'together-0')
  const check = (combination: Combination, folder: string): Promise<Outcome> => {
    const ours = tarballs.filter(({ manifest }) => combination.of.includes(manifest.name))
    const others = combination.of.filter((name) => Object.hasOwn(ranges, name)).map((name) => [name, ranges[name]])
    const wanted = {
      tarballs: [...new Set(ours.flatMap((each) => [each, ...siblingsOf(each)]))],
      others: Object.fromEntries(others),
    }
    return checkCombination(combination, wanted, { folder, everything, nodes })
  }
  const [first, ...rest] = combinations
  const ofFirst = await check(first, everything)
  const ofRest = await Promise.all(rest.map((each, index) => check(each, join(place, `together-${index + 1}`))))
  return [ofFirst, ...ofRest]
}

/** Checks one combination in `folder`; `everything` is the folder with all packages, and `nodes` are paths of Node. */
export async function checkCombination(
  { of, brings, program, prints }: Combination,
  { tarballs, others }: InstallRequest,
  {
    folder,
    everything,
    nodes,
  }: { readonly folder: string; readonly everything: string; readonly nodes: readonly string[] },
): Promise<Outcome> {
  const label = of.join(' + ')
  const result = await install(dependenciesOf(tarballs, others), folder)
  if ('fault' in result) {
    const nothing = { passed: 0, faults: [], leftOut: [], line: label }
    if (result.noNetwork && process.env.CI === undefined) {
      return { ...nothing, leftOut: ['not installed and run: no package registry is reachable'] }
    }
    return { ...nothing, faults: [`install: ${result.fault}`] }
  }
  const { packages, kilobytes } = result.installed
  const files = folder === everything ? { ...servers, 'program.mjs': program } : { 'program.mjs': program }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)

  const faults: string[] = []
  const wanted = [...new Set([...of, ...brings])].sort()
  if (packages.join() !== wanted.join())
    faults.push(`contents: expected ${wanted.join(', ')}, got ${packages.join(', ')}`)
  const { code, stdout, output } = await run(process.execPath, ['program.mjs'], folder, {
    SERVERS: everything,
    NODES: JSON.stringify(nodes),
  })
  if (code !== 0 || stdout.trim() !== prints)
    faults.push(`program: expected the output\n${prints}\n    got\n${output.trim()}`)
  const line = `${label}: ${packages.length} packages, ${kilobytes} kB installed`
  return { passed: 2 - faults.length, faults, leftOut: [], line }
}
