/** Tests that bundlers remove the schemas of the protocol that a program does not use. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'unused-schemas-'))

// Builds a copy of the package, because other tests may use its build.
beforeAll(() => {
  for (const part of ['package.json', 'src'])
    cpSync(join(root, 'packages/protocol', part), join(folder, part), { recursive: true })
  const args = [join(root, 'node_modules/rolldown/bin/cli.mjs'), '-c', join(root, 'rolldown.config.mjs')]
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  expect({ status, stderr }).toMatchObject({ status: 0 })
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Keeps the import of zod if the bundle uses it. */
const externalZod: Plugin = {
  name: 'external zod',
  setup(bundler) {
    bundler.onResolve({ filter: /^zod/ }, ({ path }) => ({ path, external: true, sideEffects: false }))
  },
}

async function bundle(name: string): Promise<string> {
  const contents = `export { ${name} } from './dist/index.js'`
  const stdin = { contents, resolveDir: folder }
  const { outputFiles } = await build({
    stdin,
    bundle: true,
    minifyWhitespace: true,
    format: 'esm',
    write: false,
    plugins: [externalZod],
  })
  return outputFiles[0]?.text ?? ''
}

it.each(['decode', 'encode', 'createDuplex', 'RpcError'])('%s needs no schema', async (name) => {
  const text = await bundle(name)
  expect(text).toContain(name)
  expect(text).not.toContain('zod')
})

it('servers need no schemas of the results that they send', async () => {
  expect(await bundle('clientRequestResult')).toContain('nextCursor')
  const text = await bundle('clientRequestParams')
  expect(text).toContain('argument')
  expect(text).not.toContain('nextCursor')
})
