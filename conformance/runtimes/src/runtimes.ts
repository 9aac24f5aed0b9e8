/** Finds the runtimes: in the packages that `npm test` installs, and on PATH. */
import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('..', import.meta.url))

export type RuntimeName = 'node20' | 'node22' | 'node24' | 'bun' | 'deno' | 'workerd' | 'chromium'

export interface Runtime {
  readonly name: RuntimeName
  readonly path: string
  /** The printed version, for example `v20.20.2`. */
  readonly version: string
}

export const runtimeNames: readonly RuntimeName[] = ['node20', 'node22', 'node24', 'bun', 'deno', 'workerd', 'chromium']

const { platform, arch } = process
const os = platform === 'win32' ? 'windows' : platform
const exe = platform === 'win32' ? '.exe' : ''
const libc = platform === 'linux' ? '-glibc' : ''
const cloudflareCpu = arch === 'x64' ? '64' : arch

/** The path of each program. The programs of Deno and workerd are in a platform-specific package. */
const places: Readonly<Record<RuntimeName, () => string | undefined>> = {
  node20: () => join(here, 'node_modules', 'node20', 'bin', `node${exe}`),
  node22: () => join(here, 'node_modules', 'node22', 'bin', `node${exe}`),
  node24: () => process.execPath,
  // The install script of the package moves the program to this path on every platform.
  bun: () => join(here, 'node_modules', 'bun', 'bin', 'bun.exe'),
  deno: () => within('deno', `@deno/${platform}-${arch}${libc}`, `deno${exe}`),
  workerd: () => within('workerd', `@cloudflare/workerd-${os}-${cloudflareCpu}`, `bin/workerd${exe}`),
  chromium: () => onPath(['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']),
}

/** Returns the installed runtimes that work. */
export async function findRuntimes(names: readonly RuntimeName[] = runtimeNames): Promise<Runtime[]> {
  const found = await Promise.all(names.map(find))
  return found.filter((each) => each !== undefined)
}

async function find(name: RuntimeName): Promise<Runtime | undefined> {
  const path = places[name]()
  if (path === undefined || !existsSync(path)) return undefined
  const output = await new Promise<string>((resolve) => {
    execFile(path, ['--version'], { timeout: 20_000 }, (error, output) => resolve(error === null ? output : ''))
  })
  const version = /v?\d+[\w.-]*/.exec(output)?.[0]
  if (version === undefined || (name === 'node24' && !version.startsWith('v24.'))) return undefined
  return { name, path, version }
}

/** Returns a file of an optional dependency of one of our dependencies. */
function within(dependency: string, holder: string, file: string): string | undefined {
  const owner = join(here, 'node_modules', dependency)
  if (!existsSync(owner)) return undefined
  try {
    const manifest = createRequire(join(realpathSync(owner), 'package.json')).resolve(`${holder}/package.json`)
    return join(dirname(manifest), file)
  } catch {
    return undefined
  }
}

function onPath(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name + exe)))
  return paths.find((path) => existsSync(path))
}
