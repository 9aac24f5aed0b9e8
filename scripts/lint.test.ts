/** The lint rules of docs/STYLE.md report violations, with the configuration of this repository. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `  n += ${i}\n`).join('')
const rows = (count: number): string => Array.from({ length: count }, (_, i) => `export const n${i} = ${i}\n`).join('')
const rise = (count: number): string => `export function rise(n: number): number {\n${lines(count)}  return n\n}\n`

/** A violation of each rule. */
const broken: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  noImportCycles: {
    'packages/a/src/one.ts': "import { two } from './two.ts'\n\nexport const one = (): number => two()\n",
    'packages/a/src/two.ts': "import { three } from './three.ts'\n\nexport const two = (): number => three()\n",
    'packages/a/src/three.ts': "import { one } from './one.ts'\n\nexport const three = (): number => one()\n",
  },
  noDefaultExport: { 'packages/a/src/whole.ts': 'export default 1\n' },
  noReExportAll: { 'packages/a/src/all.ts': "export * from './a.ts'\n" },
  noExplicitAny: { 'packages/a/src/loose.ts': 'export const loose = (value: any): unknown => value\n' },
  noConsole: { 'packages/a/src/loud.ts': "console.log('x')\n" },
  useFilenamingConvention: { 'packages/a/src/camelCase.ts': 'export const x = 1\n' },
  useImportType: { 'packages/a/src/a.ts': "import { X } from './x.ts'\n\nexport type Y = X\n" },
  noFloatingPromises: {
    'packages/a/src/port.ts': 'export interface Port {\n  send(): Promise<void>\n}\n',
    'packages/a/src/floating.ts':
      "import type { Port } from './port.ts'\n\nexport function start(port: Port): void {\n  port.send()\n}\n",
  },
  noMisusedPromises: {
    'packages/a/src/misused.ts': 'export const all = (): void => [1].forEach(async () => await Promise.resolve())\n',
  },
  useExhaustiveSwitchCases: {
    'packages/a/src/cases.ts':
      "export function cases(era: 'legacy' | 'modern'): number {\n  switch (era) {\n    case 'legacy':\n      return 1\n  }\n  return 2\n}\n",
  },
}

/** Returns the rules that report these files at a level. */
function fired(files: Readonly<Record<string, string>>, level = 'error'): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'lint-'))
  try {
    execFileSync('git', ['init', '--quiet', folder])
    for (const name of ['biome.json', '.gitignore']) cpSync(join(root, name), join(folder, name))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    const { stdout } = spawnSync('biome', ['check', '--reporter=json', 'packages'], { cwd: folder, encoding: 'utf8' })
    const report = JSON.parse(stdout) as { diagnostics: { category: string; severity: string }[] }
    const found = report.diagnostics.filter(({ severity }) => severity === level)
    return [...new Set(found.map(({ category }) => category.split('/').at(-1) ?? ''))]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

it.each([
  ['a function of more than 80 lines', { 'packages/a/src/long.ts': rise(90) }, 'noExcessiveLinesPerFunction'],
  ['a file of more than 400 lines', { 'packages/a/src/long.ts': rows(410) }, 'noExcessiveLinesPerFile'],
])('reports %s without failing', (_, files, rule) => {
  expect(fired(files, 'info')).toEqual([rule])
  expect(fired(files)).toEqual([])
})

it('allows an import cycle of types', () => {
  const types = {
    'packages/a/src/one.ts': "import type { B } from './two.ts'\n\nexport type A = B | 1\n",
    'packages/a/src/two.ts': "import type { A } from './one.ts'\n\nexport type B = { readonly a: A }\n",
  }
  expect(fired(types)).toEqual([])
})

for (const [rule, files] of Object.entries(broken)) {
  it(`reports ${rule}`, () => {
    expect(fired(files)).toEqual([rule])
  })
}
