import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { versionOf } from './package-versions.ts'

it('the dependencies of other authors are pinned', () => {
  const { devDependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const others = Object.entries(devDependencies as object).filter(([, version]) => version !== 'workspace:*')
  expect(others.length).toBeGreaterThan(5)
  // Old releases are installed under other names: `npm:<package>@<version>`.
  const pinned = others.map(([name, version]) => [name, String(version).replace(/^npm:.+@/, '')])
  expect(pinned).toEqual(others.map(([name]) => [name, versionOf(name)]))
})
