// Removes what older builds left behind in the folders that are published: no tool does, and it would be published.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Cleans the `dist` folder of each package under `root`, once it is built; returns the paths it removed. */
export function removeStaleOutputs(root) {
  return readdirSync(join(root, 'packages')).flatMap((name) => {
    const folder = join(root, 'packages', name)
    const dist = join(folder, 'dist')
    if (!existsSync(dist)) return []
    const code = codeOf(folder)
    const stale = filesBelow(dist).filter((file) => {
      if (file.endsWith('.d.ts')) return !existsSync(join(folder, 'src', file.replace(/\.d\.ts$/, '.ts')))
      return !code.has(file)
    })
    for (const file of stale) rmSync(join(dist, file))
    return stale.map((file) => `packages/${name}/dist/${file}`)
  })
}

/** The files that the entries of a package lead to. All there are while an entry is missing: it is not built. */
function codeOf(folder) {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : Object.values(entry)))
  const entries = [...new Set(files)].flatMap((file) => /^\.\/dist\/(.+\.js)$/.exec(file)?.[1] ?? [])
  const dist = join(folder, 'dist')
  if (!entries.every((entry) => existsSync(join(dist, entry)))) return new Set(filesBelow(dist))
  const found = new Set(entries)
  for (const file of found) {
    if (!existsSync(join(dist, file))) continue
    for (const [, path] of readFileSync(join(dist, file), 'utf8').matchAll(/(?:from |import\()"(\.\.?\/[^"]+\.js)"/g))
      found.add(join(file, '..', path).replaceAll('\\', '/'))
  }
  return found
}

function filesBelow(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    )
}
