/** Each rule passes in a small clean repository, and fails in one that breaks it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageOf, readImports, readRepository } from './architecture/repository.ts'
import { rules } from './architecture/rules.ts'

type Files = Readonly<Record<string, string>>

const entry = { types: './dist/index.d.ts', default: './dist/index.js' }
const exported = { '.': { source: './src/index.ts', ...entry }, './package.json': './package.json' }
const publishConfig = { access: 'public', exports: { '.': entry, './package.json': './package.json' } }

/** Returns the text of a correct package.json with some members replaced. */
function manifest(name: string, changes: object = {}): string {
  return JSON.stringify({
    name: `@mcpx/${name}`,
    description: 'A package.',
    license: 'MIT',
    author: 'Ada',
    homepage: 'https://example.com',
    repository: {},
    bugs: {},
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: exported,
    files: [
      ...['dist', 'src', '!dist/*.tsbuildinfo', '!src/**/*.test.ts', '!src/**/*.test-d.ts', '!src/**/*.fixture.ts'],
      ...['README.md', 'LICENSE'],
    ],
    publishConfig,
    ...changes,
  })
}

const clean: Files = {
  'tsconfig.json': '{ "references": [{ "path": "packages/protocol" }, { "path": "packages/server" }] }',
  'README.md': 'See `packages/protocol/src/index.ts`, `src/*.ts`, [the server](packages/server/package.json#name).\n',
  'packages/protocol/package.json': manifest('protocol', { dependencies: { zod: '4' } }),
  'packages/protocol/src/index.ts': "import { string } from 'zod/mini'\n\nexport { string }\n",
  'packages/server/package.json': manifest('server', { dependencies: { '@mcpx/protocol': 'workspace:*' } }),
  'packages/server/src/index.ts':
    "import { string } from '@mcpx/protocol'\nimport { a } from './legacy.ts'\nimport { b } from './modern.ts'\n\nexport const all = [string, a, b]\n",
  'packages/server/src/legacy.ts': 'export const a = 1\n',
  'packages/server/src/modern.ts': "export { a as b } from './shared.ts'\n",
  'packages/server/src/shared.ts': 'export const a = 2\n',
}

const withLine = (line: string): Files => ({
  'packages/server/src/index.ts': `${clean['packages/server/src/index.ts']}${line}\n`,
})
const withManifest = (changes: object): Files => ({ 'packages/server/package.json': manifest('server', changes) })
const dependsOn = (name: string): Files =>
  withManifest({ dependencies: { '@mcpx/protocol': 'workspace:*', [name]: 'workspace:*' } })
const document = (text: string): Files => ({ 'docs/PAGE.md': `${text}\n` })

/** The violations of each rule, as files that replace those of the clean repository. */
const broken: Readonly<Record<string, Readonly<Record<string, Files>>>> = {
  direction: {
    'an import of a sibling': { ...dependsOn('@mcpx/client'), ...withLine("export { x } from '@mcpx/client'") },
    'a type import of a sibling': { ...dependsOn('@mcpx/auth'), ...withLine("export type { X } from '@mcpx/auth'") },
    'a test that imports a sibling': { 'packages/server/src/a.test.ts': "import '@mcpx/client'\n" },
    'an import of itself': withLine("export { y } from '@mcpx/server'"),
    'an import of a package above': {
      'packages/protocol/package.json': manifest('protocol', { dependencies: { zod: '4', '@mcpx/sse': '*' } }),
      'packages/protocol/src/index.ts': "export const sse = await import('@mcpx/sse')\n",
    },
    'a package without a direction': {
      'packages/other/package.json': manifest('other'),
      'packages/other/src/index.ts': 'export const x = 1\n',
      'tsconfig.json': '"packages/protocol" "packages/server" "packages/other"',
    },
  },
  eras: {
    'a modern file that imports a legacy file': {
      'packages/server/src/modern.ts': "export type { a } from './legacy.ts'\n",
    },
    'a modern file that imports a legacy file beside a comment': {
      'packages/server/src/modern.ts': "import {\n  // the server's era\n  type a,\n} from './legacy.ts'\n",
    },
    'a file of a legacy folder that imports a modern file': {
      'packages/server/src/legacy/sessions.ts': "export { b } from '../modern.ts'\n",
    },
  },
  dependencies: {
    'an import that is not declared': withLine("export { Hono } from 'hono/tiny'"),
    'a type import that is not declared': withLine("export type Hono = import('hono').Hono"),
    'an import of a devDependency': {
      ...withManifest({ dependencies: { '@mcpx/protocol': '*' }, devDependencies: { hono: '*' } }),
      ...withLine("export { Hono } from 'hono'"),
    },
  },
  neutral: {
    'a Node module': withLine("export { Buffer } from 'node:buffer'"),
    'a Node module beside a comment': withLine("import { a /* x; y */ } from 'node:fs'"),
    'a Node module without its prefix': withLine("export { readFile } from 'fs/promises'"),
    'a reference to the types of browsers': withLine('/// <reference lib="dom" />'),
    'a configuration that sets types': { 'packages/server/tsconfig.json': '{ "types": ["node"] }' },
  },
  manifests: {
    'another name': {
      'packages/server/package.json': manifest('servant', { dependencies: { '@mcpx/protocol': '*' } }),
    },
    'side effects': withManifest({ sideEffects: true, dependencies: { '@mcpx/protocol': '*' } }),
    'side effects of the root entry': withManifest({
      dependencies: { '@mcpx/protocol': '*' },
      sideEffects: ['./src/index.ts', './dist/index.js'],
    }),
    'side effects of a file that is not an entry': withManifest({
      dependencies: { '@mcpx/protocol': '*' },
      sideEffects: ['./src/shared.ts'],
    }),
    'no repository': withManifest({ repository: undefined, dependencies: { '@mcpx/protocol': '*' } }),
    'no sources': withManifest({ files: ['dist'], dependencies: { '@mcpx/protocol': '*' } }),
    'other exports when published': withManifest({
      dependencies: { '@mcpx/protocol': '*' },
      publishConfig: { access: 'public', exports: exported },
    }),
    'an entry without a source': withManifest({
      dependencies: { '@mcpx/protocol': '*' },
      exports: { '.': { source: './src/gone.ts', ...entry }, './package.json': './package.json' },
    }),
    'a package that `tsc -b` does not build': {
      'tsconfig.json': '{ "references": [{ "path": "packages/protocol" }] }',
    },
  },
  finished: {
    'a TODO comment': withLine('// TODO: later'),
    'a switched off compiler': withLine('// @ts-expect-error: it works'),
    'a switched off rule': withLine('// biome-ignore lint/suspicious/noExplicitAny: it works'),
    'two switched off rules': withLine('// biome-ignore lint/style/noVar lint/performance/noReExportAll: it works'),
    'a switched off group of rules': withLine('/* biome-ignore-all lint/suspicious: it works */'),
    'a switched off linter': withLine('// biome-ignore-start lint: it works'),
  },
  paths: {
    'a path from the root': document('It is in `packages/server/src/gone.ts`.'),
    'the end of a path': document('It is in `src/gone.ts`.'),
    'a folder': document('It is in `packages/gone/`.'),
    'a pattern': document('They are `packages/*/src/gone/**`.'),
    'a path after a fenced block': document('```\n`scripts/x`\n```\nIt is in `scripts/gone.mjs`.'),
  },
  links: {
    'a link to a missing file': document('See [style](STYLE.md).'),
    'a reference to a missing file': document('See [style].\n\n[style]: ../STYLE.md#top'),
    'a link to a missing heading of the document': document('# Title\n\nSee [there](#there).'),
    'a link to a missing heading of another document': {
      ...document('# Title'),
      'docs/OTHER.md': 'See [it](PAGE.md#the-title).\n',
    },
  },
  places: {
    'a home folder': document(`See /${'home'}/somebody/notes.`),
    'a registry': { 'pnpm-lock.yaml': `tarball: https://${'registry'}.example.com/x\n` },
    'a tarball': { 'pnpm-lock.yaml': `tarball: https://mirror.example/x/${'-'}/x-1.0.0.tgz\n` },
  },
}

/** Returns the violations of each rule that does not pass in a repository of these files. */
function violations(files: Files): Record<string, readonly object[]> {
  const root = mkdtempSync(join(tmpdir(), 'architecture-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    const repository = readRepository(root)
    const results = rules.map((rule) => [rule.name, rule.check(repository)] as const)
    return Object.fromEntries(results.filter(([, found]) => found.length > 0))
  } finally {
    rmSync(root, { recursive: true })
  }
}

describe('the rules of the architecture', () => {
  it('pass in a clean repository', () => {
    expect(violations(clean)).toEqual({})
  })

  it('each have examples of violations', () => {
    expect(Object.keys(broken)).toEqual(rules.map(({ name }) => name))
  })
})

describe.each(Object.entries(broken))('the rule "%s"', (rule, violationsOfRule) => {
  it.each(Object.entries(violationsOfRule))('rejects %s', (_, files) => {
    const found = violations({ ...clean, ...files })
    expect(Object.keys(found)).toEqual([rule])
    expect(found[rule]).toHaveLength(1)
  })
})

it('the rule "finished" allows suppressions of other rules', () => {
  const line = '// biome-ignore lint/complexity/noBannedTypes: the lint rule does not know the type'
  expect(violations({ ...clean, ...withLine(line) })).toEqual({})
})

describe('reading imports', () => {
  it('finds each form of import', () => {
    const text = `import 'a'
import b, { x as from } from 'b'
import type { C } from "c"
import * as d from 'd'
export {
  e,
} from 'e'
export * from 'f'
const g = await import('g')
type H = import('h').H
`
    expect(readImports(text).map(({ specifier }) => specifier)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
    expect(readImports(text).at(-1)?.line).toBe(10)
  })

  it('finds imports with comments inside, and no import that a comment names', () => {
    const text = `import {
  // the server's era, once from 'x'
  type Probe,
} from 'a'
import { b /* c; 'd' = */ } from /* e */ 'b'
import // f
  'c'
const d = import(/* g */ 'd')
/* h */ import e from 'e'
export { f /* it's */, /** from 'y' */ g } from 'f'
`
    expect(readImports(text).map(({ specifier }) => specifier)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
    expect(readImports(text).map(({ line }) => line)).toEqual([1, 5, 6, 8, 9, 10])
  })

  it('ignores imports in comments and strings', () => {
    expect(
      readImports(`// import 'a'\n * import { b } from 'b'\nexport const from = 'd'\nf(from, "import 'e'")`),
    ).toEqual([])
  })

  it('returns the package of a specifier', () => {
    expect(['@a/b/c', 'd/e', './f.ts', 'node:fs', 'fs/promises'].map(packageOf)).toEqual([
      '@a/b',
      'd',
      undefined,
      undefined,
      undefined,
    ])
  })
})
