import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Builds a package with one module, and returns the code of its entry. */
function buildPackage(source: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'build-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'src'))
  const manifest = { name: 'sample', version: '7.8.9', exports: { '.': { default: './dist/index.js' } } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'src/index.ts'), source)
  const args = [join(root, 'node_modules/rolldown/bin/cli.mjs'), '-c', join(root, 'rolldown.config.mjs')]
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  expect({ status, stderr }).toMatchObject({ status: 0 })
  return readFileSync(join(folder, 'dist/index.js'), 'utf8')
}

it('builds the version in package.json into a package', () => {
  // The declared version of the client, and the version that it sends to servers.
  const [declaration] = /declare const PACKAGE_VERSION.*\nconst VERSION.*\n/.exec(
    readFileSync(join(root, 'packages/client/src/state.ts'), 'utf8'),
  ) as RegExpExecArray
  const built = buildPackage(`${declaration}export const version = VERSION\n`)
  expect(built).toContain('"7.8.9"')
  expect(built).not.toContain('0.0.0')
})

it('marks schemas as free of side effects, so that bundlers remove unused ones', () => {
  const built = buildPackage(
    "import * as z from 'zod/mini'\nexport const Name = z.object({ name: z.string().check(z.minLength(1)) })\nexport const text = 'z.string()'\n",
  )
  const pure = '/* @__PURE__ */ z.'
  expect(built).toContain(`const Name = ${pure}object({ name: ${pure}string().check(${pure}minLength(1)) })`)
  expect(built).toContain('"z.string()"')
})
