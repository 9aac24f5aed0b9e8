import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

it('builds the version in package.json into a package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'build-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'src'))
  const manifest = { name: 'sample', version: '7.8.9', exports: { '.': { default: './dist/index.js' } } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  // The declared version of the client, and the version that it sends to servers.
  const [declaration] = /declare const PACKAGE_VERSION.*\nconst VERSION.*\n/.exec(
    readFileSync(join(root, 'packages/client/src/state.ts'), 'utf8'),
  ) as RegExpExecArray
  writeFileSync(join(folder, 'src/index.ts'), `${declaration}export const version = VERSION\n`)
  const args = [join(root, 'node_modules/rolldown/bin/cli.mjs'), '-c', join(root, 'rolldown.config.mjs')]
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  expect({ status, stderr }).toMatchObject({ status: 0 })
  const built = readFileSync(join(folder, 'dist/index.js'), 'utf8')
  expect(built).toContain('"7.8.9"')
  expect(built).not.toContain('0.0.0')
})
