/** Collects the files of a bundle: the files that npm would publish, and the dependencies that the server needs. */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { usageError } from '../output/errors.ts'

/** The files of a bundle. The key is the path in the bundle, with `/`; the value is the path of the source file. */
export type BundleFiles = Map<string, string>

/** How many files a bundle may have. */
const MAX_FILES = 50_000
/** The largest total size of the files of a bundle, in bytes. */
const MAX_SIZE = 500_000_000
/**
 * Files of dependencies that no program loads. TypeScript is one of them, because Node does not compile it in
 * `node_modules`.
 */
const NEEDLESS = /\.(?:map|tsbuildinfo|[cm]?tsx?)$/
/** Files that may contain credentials and that npm would publish. */
const SECRET =
  /(?:^|\/)(?:\.env(?:\.(?!example$|sample$|template$|dist$)[^/]*)?|[^/]+\.env|\.envrc|\.netrc|\.pgpass|\.htpasswd|\.git-credentials|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|[^/]+\.(?:p12|pfx|jks|keystore|ppk|kdbx)|\.(?:aws|ssh|kube|docker|gnupg)\/.*)$/i
/** A private key, also within JSON, such as the key of a service account. Code contains at most its first line. */
const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr])*[\w+/=:-]{10}/
/** Larger files, in bytes, are not searched for private keys. */
const MAX_SEARCHED = 4_194_304

/**
 * Collects the files of a package and of its dependencies.
 *
 * @throws CliError if a dependency is not installed, if npm fails, for a file with credentials, or for too many or too
 * large files
 */
export async function collectFiles(folder: string): Promise<BundleFiles> {
  const files: BundleFiles = new Map()
  const root = await realpath(folder)
  await addPublishedFiles(files, root, '')
  await addDependencies(files, root)
  if (files.size > MAX_FILES) {
    throw usageError(
      `The bundle has ${files.size} files, but at most ${MAX_FILES} are allowed`,
      'Bundle the server first.',
    )
  }
  await checkSize(files)
  return files
}

/** Checks the size before the files are read, because Node cannot read files of 2 GiB at once. */
async function checkSize(files: BundleFiles): Promise<void> {
  let total = 0
  for (const [path, source] of files) {
    const { size } = await stat(source)
    total += size
    if (total <= MAX_SIZE) continue
    const problem = `The files of the bundle exceed ${MAX_SIZE} bytes; ${path} has ${size} bytes`
    throw usageError(problem, 'Leave files out by "files" in package.json, or remove the dependency.')
  }
}

/** Adds the files that npm would publish. */
async function addPublishedFiles(files: BundleFiles, folder: string, prefix: string): Promise<void> {
  const paths = await listPublished(folder)
  for (const path of paths) {
    if (SECRET.test(path) || (await hasPrivateKey(join(folder, path)))) {
      const remedy = 'List the files of the server in "files" of package.json, or name it in .npmignore.'
      throw usageError(`The bundle would contain ${join(folder, path)}, which may hold credentials`, remedy)
    }
    // Leave out bundles that were created earlier.
    if (path.endsWith('.mcpb')) continue
    if (prefix === '' || !NEEDLESS.test(path)) files.set(`${prefix}${path}`, join(folder, path))
  }
}

async function hasPrivateKey(path: string): Promise<boolean> {
  return (await stat(path)).size <= MAX_SEARCHED && PRIVATE_KEY.test(await readFile(path, 'latin1'))
}

async function listPublished(folder: string): Promise<string[]> {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts']
  try {
    // On Windows, npm is a script, which needs a shell.
    const options = { cwd: folder, shell: process.platform === 'win32', maxBuffer: 64 * 1024 * 1024 }
    const { stdout } = await promisify(execFile)('npm', args, options)
    const [packed] = Object.values(JSON.parse(stdout) as Record<string, { files: { path: string }[] }>)
    return (packed?.files ?? []).map(({ path }) => path)
  } catch (cause) {
    const { message } = cause as Error
    throw usageError(`npm cannot list the files of ${folder}: ${message.trim().slice(0, 500)}`, 'Is npm installed?')
  }
}

/** A package whose dependencies have to be added. */
interface Dependent {
  readonly folder: string
  /** The path of the package in the bundle, such as `node_modules/zod/`. Empty for the server itself. */
  readonly prefix: string
}

/**
 * Adds dependencies to the `node_modules` of the bundle. If two packages need different versions, adds the second
 * version below the package that needs it.
 */
async function addDependencies(files: BundleFiles, root: string): Promise<void> {
  const placed = new Map<string, string>()
  const waiting: Dependent[] = [{ folder: root, prefix: '' }]
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    for (const [name, isRequired] of await readDependencies(next.folder)) {
      const folder = await findPackage(name, next.folder)
      if (folder === undefined && isRequired) {
        throw usageError(`The dependency ${name} of ${next.folder} is not installed`, 'Run npm install.')
      }
      const prefix = folder && placeFor(name, folder, next.prefix, placed)
      if (folder === undefined || prefix === undefined) continue
      placed.set(prefix, folder)
      waiting.push({ folder, prefix })
      if (/[\\/]node_modules[\\/]/.test(folder)) await addFolder(files, folder, prefix)
      // A package of the same workspace contains files that are not published, so add only its published files.
      else await addPublishedFiles(files, folder, prefix)
    }
  }
}

async function readDependencies(folder: string): Promise<Map<string, boolean>> {
  const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
    await readFile(join(folder, 'package.json'), 'utf8'),
  ) as Record<string, Record<string, string> | undefined>
  const optional = [peerDependencies, optionalDependencies].flatMap((each) => Object.keys(each ?? {}))
  const required = Object.keys(dependencies ?? {}).filter((name) => optionalDependencies?.[name] === undefined)
  return new Map([...optional.map((name) => [name, false] as const), ...required.map((name) => [name, true] as const)])
}

/** Returns the folder of a package, as Node would find it. */
async function findPackage(name: string, from: string): Promise<string | undefined> {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    if (existsSync(join(candidate, 'package.json'))) return realpath(candidate)
    if (folder === dirname(folder)) return undefined
  }
}

/** Returns the path for a package. Returns undefined if the bundle already contains the package where Node finds it. */
function placeFor(name: string, folder: string, dependent: string, placed: Map<string, string>): string | undefined {
  const levels = [
    dependent,
    ...[...dependent.matchAll(/node_modules\//g)].map(({ index }) => dependent.slice(0, index)),
  ]
  // Node uses the nearest package.
  const places = [...new Set(levels)]
    .sort((one, other) => other.length - one.length)
    .map((level) => `${level}node_modules/${name}/`)
  const nearest = places.find((place) => placed.has(place))
  if (nearest === undefined) return `node_modules/${name}/`
  return placed.get(nearest) === folder ? undefined : places[0]
}

async function addFolder(files: BundleFiles, folder: string, prefix: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules' || NEEDLESS.test(entry.name)) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await addFolder(files, path, `${prefix}${entry.name}/`)
    else if (entry.isFile()) files.set(`${prefix}${entry.name}`, path)
  }
}
