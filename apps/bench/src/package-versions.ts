/** Which version of each package was measured. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('..', import.meta.url))

/** By name, in the order of the package.json of the benchmark. */
export function packageVersions(): Readonly<Record<string, string>> {
  const { devDependencies } = read(join(folder, 'package.json')) as { devDependencies: Record<string, string> }
  const versions = Object.keys(devDependencies).map((name): [string, string] => {
    const { version } = read(join(folder, 'node_modules', name, 'package.json')) as { version: string }
    return [name, version]
  })
  return Object.fromEntries(versions)
}

function read(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}
