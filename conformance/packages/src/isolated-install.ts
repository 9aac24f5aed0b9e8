/** Installs a tarball into an empty folder, imports its entries on each Node version, and compiles against its types. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { specifiers, type Tarball } from './tarball.ts'
import { run } from './tool.ts'

export interface Installed {
  readonly folder: string
  /** The names of all installed packages. */
  readonly packages: readonly string[]
  readonly kilobytes: number
}

export type InstallResult = { readonly installed: Installed } | { readonly fault: string; readonly noNetwork: boolean }

/** Returns the `dependencies` of a package.json: our tarballs, and packages of others with their ranges. */
export function dependenciesOf(tarballs: readonly Tarball[], others: Readonly<Record<string, string>> = {}) {
  return { ...Object.fromEntries(tarballs.map((each) => [each.manifest.name, `file:${each.path}`])), ...others }
}

/** Returns the optional peer dependencies, which some entries need. */
export function optionalPeers({ manifest }: Tarball): Record<string, string> {
  const { peerDependencies = {}, peerDependenciesMeta = {} } = manifest
  return Object.fromEntries(Object.entries(peerDependencies).filter(([name]) => peerDependenciesMeta[name]?.optional))
}

/** Returns the lowest versions of third-party dependencies that the ranges of a package allow. */
export function lowestVersions({ manifest }: Tarball): Record<string, string> {
  const ranges = Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies })
  const others = ranges.filter(([name]) => !name.startsWith('@mcpx/'))
  return Object.fromEntries(others.map(([name, range]) => [name, range.replace(/^\^/, '')]))
}

/** Installs with npm into an empty folder. */
export async function install(dependencies: Readonly<Record<string, string>>, folder: string): Promise<InstallResult> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeJson(join(folder, 'package.json'), { name: 'alone', private: true, type: 'module', dependencies })
  const args = ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  const { code, output } = await run('npm', args, folder)
  if (code !== 0) {
    const noNetwork = /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/.test(output)
    return { fault: `cannot be installed:\n${output.trim()}`, noNetwork }
  }
  const lock = JSON.parse(readFileSync(join(folder, 'node_modules', '.package-lock.json'), 'utf8')) as {
    packages: object
  }
  const packages = Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, ''))
  const kilobytes = Math.round(sizeOf(join(folder, 'node_modules')) / 1000)
  return { installed: { folder, packages: packages.sort(), kilobytes } }
}

/** Returns the size of all files below a folder, in bytes. */
export function sizeOf(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  return entries.reduce(
    (sum, entry) => (entry.isFile() ? sum + statSync(join(entry.parentPath, entry.name)).size : sum),
    0,
  )
}

/** Imports each entry; a warning is also a fault. */
export async function importFaults(tarball: Tarball, { folder }: Installed, node: string): Promise<string[]> {
  const names = JSON.stringify(specifiers(tarball.manifest))
  const script = `for (const name of ${names}) await import(name)`
  const { code, stderr, output } = await run(node, ['--input-type=module', '--eval', script], folder)
  if (code === 0 && stderr.trim() === '') return []
  return [`cannot be imported without output:\n${output.trim()}`]
}

/** Prints the version by each program of the package. */
export async function programFaults({ manifest }: Tarball, { folder }: Installed, node: string): Promise<string[]> {
  const faults = Object.entries(manifest.bin ?? {}).map(async ([name, path]) => {
    const { code, output } = await run(node, [join('node_modules', manifest.name, path), '--version'], folder)
    return code === 0 && output === `${manifest.version}\n`
      ? []
      : [`${name} --version: exit code ${code}\n${output.trim()}`]
  })
  return (await Promise.all(faults)).flat()
}

const strict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  noEmit: true,
  target: 'ES2023',
  verbatimModuleSyntax: true,
}

/** The compiler options of consumers: for Node with its types, and for browsers with a bundler. */
export const consumers = {
  nodenext: { ...strict, module: 'NodeNext', moduleResolution: 'NodeNext', lib: ['ES2023'], types: ['node'] },
  bundler: {
    ...strict,
    module: 'ESNext',
    moduleResolution: 'Bundler',
    lib: ['ES2023', 'DOM', 'DOM.AsyncIterable'],
    types: [],
  },
}

/** Compiles a file that imports all entries; `root` is the repository with the compiler and Node's types. */
export async function compileFaults(
  tarball: Tarball,
  { folder }: Installed,
  consumer: keyof typeof consumers,
  root: string,
): Promise<string[]> {
  const names = specifiers(tarball.manifest)
  const imports = names.map((name, index) => `import * as entry${index} from '${name}'\n`)
  const uses = names.map((_, index) => `entry${index}`).join(', ')
  writeFileSync(join(folder, 'consumer.ts'), `${imports.join('')}\nexport const entries = [${uses}]\n`)
  const compilerOptions = { ...consumers[consumer], typeRoots: [join(root, 'node_modules/@types')] }
  const config = join(folder, `tsconfig.${consumer}.json`)
  writeJson(config, { compilerOptions, files: ['consumer.ts'] })
  const { code, output } = await run('node', [join(root, 'node_modules/typescript/bin/tsc'), '-p', config], folder)
  return code === 0 ? [] : [`does not compile (${consumer}):\n${output.trim()}`]
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`)
}
