// Removes compiled files whose source is gone: the compiler leaves them behind, and they would be published.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Cleans the `dist` folder of each package under `root`; returns the paths it removed. */
export function removeStaleOutputs(root) {
  const removed = []
  for (const name of readdirSync(join(root, 'packages'))) {
    const dist = join(root, 'packages', name, 'dist')
    if (!existsSync(dist)) continue
    for (const file of readdirSync(dist, { recursive: true })) {
      const match = /^(.*?)(\.d\.ts|\.js)(\.map)?$/.exec(file)
      if (match === null || existsSync(join(root, 'packages', name, 'src', `${match[1]}.ts`))) continue
      rmSync(join(dist, file))
      removed.push(`packages/${name}/dist/${file}`)
    }
  }
  return removed
}
