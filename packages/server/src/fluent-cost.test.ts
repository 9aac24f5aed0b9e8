import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const source = fileURLToPath(new URL('.', import.meta.url))
// Beside the package's dependencies, so that the imports of the program below are found.
const folder = mkdtempSync(join(source, '../node_modules/.cost-'))
afterAll(() => rmSync(folder, { recursive: true }))

const fields = ['z.string()', 'z.number()', 'z.boolean()', 'z.string().optional()', 'z.array(z.string())']
const members = Array.from({ length: 25 }, (_, index) => `f${index}: ${fields[index % 5]}`).join(', ')
const options = `{ input: z.object({ ${members} }), output: z.object({ sum: z.number() }) }`

/** What the compiler has to do for a server of that many tools. */
function costOf(tools: number): { instantiations: number; seconds: number } {
  const calls = Array.from({ length: tools }, (_, index) => `.tool('t${index}', ${options}, ({ f1 }) => ({ sum: f1 }))`)
  const lines = [
    `import { z } from 'zod'`,
    `import type { Fluent } from '${source}fluent.ts'`,
    `export const make = (empty: Fluent) => empty${calls.join('\n')}`,
    `type Tools = NonNullable<ReturnType<typeof make>['~catalogue']>['tools']`,
    `export const last = (input: ${tools === 0 ? '{ f1: number }' : `Tools['t${tools - 1}']['input']`}): number => input.f1`,
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
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { stdout: told } = spawnSync(tsc, ['-p', folder, '--extendedDiagnostics'], { encoding: 'utf8' })
  // The sources that the program imports are compiled along with it; what is wrong in those is for other tests.
  expect(told.split('\n').filter((line) => line.includes('program.ts('))).toEqual([])
  const read = (what: string): number => Number(new RegExp(`^${what}:\\s+([\\d.]+)`, 'm').exec(told)?.[1])
  return { instantiations: read('Instantiations'), seconds: read('Check time') }
}

describe('what types cost the compiler', () => {
  it('is at most 65,000 instantiations and a second for 40 tools of 25 fields', { timeout: 60_000 }, () => {
    // What a program without any tool costs is spent on the sources of this repository, which users get compiled.
    const none = costOf(0)
    const half = costOf(20)
    const all = costOf(40)
    const instantiations = all.instantiations - none.instantiations
    const seconds = all.seconds - none.seconds
    console.log(
      `40 tools of 25 fields: ${instantiations} instantiations, checked in ${Math.max(0, seconds).toFixed(3)} s`,
    )
    expect(instantiations).toBeGreaterThan(1_000)
    expect(instantiations).toBeLessThanOrEqual(65_000)
    expect(seconds).toBeLessThanOrEqual(1)
    // The twentieth tool costs as much as the fortieth.
    expect(all.instantiations - half.instantiations).toBeLessThan(half.instantiations - none.instantiations)
  })
})
