/** The measured version of each package. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('..', import.meta.url))

/** Returns the versions by name, in the order of the benchmark's package.json. */
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
