import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const source = fileURLToPath(new URL('.', import.meta.url))
// Beside the package's dependencies, so that the imports of the program below are found.
const folder = mkdtempSync(join(source, '../node_modules/.chain-'))
afterAll(() => rmSync(folder, { recursive: true }))

const fields = ['z.string()', 'z.number()', 'z.boolean()', 'z.string().optional()', 'z.array(z.string())']
const members = Array.from({ length: 25 }, (_, index) => `f${index}: ${fields[index % 5]}`).join(', ')
const options = `{ input: z.object({ ${members} }), output: z.object({ sum: z.number() }) }`
const calls = Array.from({ length: 40 }, (_, index) => `.tool('t${index}', ${options}, ({ f1 }) => ({ sum: f1 }))`)

it('compiles a chain of 40 tools with complete types', { timeout: 60_000 }, () => {
  const lines = [
    `import { z } from 'zod'`,
    `import type { Fluent } from '${source}typed-server.ts'`,
    `export const make = (empty: Fluent) => empty${calls.join('\n')}`,
    `type Tools = NonNullable<ReturnType<typeof make>['~catalogue']>['tools']`,
    `export const last = (input: Tools['t39']['input']): number => input.f1`,
  ]
  writeFileSync(join(folder, 'program.ts'), lines.join('\n'))
  const compilerOptions = {
    noEmit: true,
    composite: false,
    incremental: false,
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: false,
    skipLibCheck: true,
  }
  const config = { extends: join(root, 'tsconfig.base.json'), compilerOptions, files: ['program.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' })
  // The sources that the program imports are compiled along with it; errors in those are for other tests.
  expect(stdout.split('\n').filter((line) => line.includes('program.ts('))).toEqual([])
})
