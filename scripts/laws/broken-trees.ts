/** A small clean repository, and for each law the ways of breaking it. */

export type Files = Readonly<Record<string, string>>

const entry = { types: './dist/index.d.ts', default: './dist/index.js' }

/** A package.json as it should be; what is given replaces what is there. */
function manifest(name: string, changes: object = {}): string {
  return JSON.stringify({
    name: `@mcpx/${name}`,
    description: 'What it is.',
    license: 'MIT',
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: { '.': { source: './src/index.ts', ...entry }, './package.json': './package.json' },
    files: ['dist', 'README.md', 'LICENSE'],
    publishConfig: { access: 'public', exports: { '.': entry, './package.json': './package.json' } },
    ...changes,
  })
}

export const clean: Files = {
  'package.json': '{ "devDependencies": { "vitest": "1.0.0" } }',
  'tsconfig.json': '{ "references": [{ "path": "packages/protocol" }, { "path": "packages/server" }] }',
  'README.md': 'See `packages/protocol/src/index.ts`, `eras/*.ts`, [the server](packages/server/package.json#name).\n',
  'packages/protocol/package.json': manifest('protocol', { dependencies: { zod: '4' } }),
  'packages/protocol/src/index.ts':
    "/** P. */\nimport { string } from 'zod/mini'\nimport { open } from './eras/select.ts'\n\nexport { open, string }\n",
  'packages/protocol/src/versions.ts': "/** Versions. */\nexport const LATEST = '2026-07-28'\n",
  'packages/protocol/src/eras/select.ts':
    "/** Selects. */\nimport { a } from './legacy.ts'\nimport { b } from './modern.ts'\n\nexport const open = [a, b]\n",
  'packages/protocol/src/eras/legacy.ts': "/** Legacy. */\nexport const a = '2025-11-25'\n",
  'packages/protocol/src/eras/modern.ts':
    "/** Modern. */\nimport { m } from './modern-meta.ts'\n\nexport const b = m\n",
  'packages/protocol/src/eras/modern-meta.ts': '/** Meta. */\nexport const m = 1\n',
  'packages/protocol/src/modern.ts': "/** M. */\nexport { b } from './eras/modern.ts'\n",
  'packages/protocol/src/error.test.ts': "import { it } from 'vitest'\n\nit('runs on 2025-11-25', () => {})\n",
  'packages/server/package.json': manifest('server', { dependencies: { '@mcpx/protocol': 'workspace:*' } }),
  'packages/server/src/index.ts': "/** The server. */\nexport { open } from '@mcpx/protocol'\n",
}

const index = 'packages/server/src/index.ts'
const source = "/** The server. */\nimport { open } from '@mcpx/protocol'\n\nexport const server = open\n"
const plain = '/** It. */\nexport const x = 1\n'

/** The clean server with a line more. */
const withLine = (line: string): Files => ({ [index]: `${source}${line}\n` })

/** The clean server with another package.json. */
const withManifest = (changes: object): Files => ({
  'packages/server/package.json': manifest('server', { dependencies: { '@mcpx/protocol': 'workspace:*' }, ...changes }),
})
const dependsOn = (name: string): Files => withManifest({ dependencies: { '@mcpx/protocol': '*', [name]: '*' } })
const withDoc = (text: string): Files => ({ 'docs/ARCHITECTURE.md': `${text}\n` })
const withTest = (text: string): Files => ({ 'packages/server/src/server.test.ts': `${text}\n` })
const withPackage = (name: string): Files => ({
  [`packages/${name}/package.json`]: manifest(name),
  [`packages/${name}/src/index.ts`]: plain,
  'tsconfig.json': `"packages/protocol" "packages/server" "packages/${name}"`,
})

/** For each law the ways of breaking it; each is laid over the clean repository. */
export const broken: Readonly<Record<string, Readonly<Record<string, Files>>>> = {
  direction: {
    'level 1 sideways': { ...dependsOn('@mcpx/client'), ...withLine("export { x } from '@mcpx/client'") },
    'level 1 sideways for a type': { ...dependsOn('@mcpx/auth'), ...withLine("export type { X } from '@mcpx/auth'") },
    'level 1 sideways in a test': {
      ...withManifest({ devDependencies: { '@mcpx/client': 'workspace:*' } }),
      ...withTest("import '@mcpx/client'"),
    },
    'level 0 to level 0': {
      'packages/protocol/package.json': manifest('protocol', { dependencies: { zod: '4', '@mcpx/sse': '*' } }),
      'packages/protocol/src/index.ts': "/** P. */\nimport 'zod/mini'\n\nexport const x = await import('@mcpx/sse')\n",
    },
    'a package that imports itself': withLine("export { y } from '@mcpx/server'"),
    'a package without a level': withPackage('other'),
  },
  'testkit-in-tests': {
    'among the peer dependencies': {
      ...withManifest({ peerDependencies: { '@mcpx/testkit': 'workspace:*' } }),
      ...withTest("import '@mcpx/testkit'"),
    },
    'a published testkit': withPackage('testkit'),
  },
  dependencies: {
    'an import that is not declared': withLine("export { Hono } from 'hono/tiny'"),
    'a type import that is not declared': withLine("export type Hono = import('hono').Hono"),
    'a product that imports a devDependency': {
      ...withManifest({ devDependencies: { hono: '*' } }),
      ...withLine("export { Hono } from 'hono'"),
    },
    'a dependency that nothing imports': dependsOn('hono'),
    'a devDependency that nothing imports': withManifest({ devDependencies: { hono: '*' } }),
    'a script that imports what the root does not have': { 'scripts/run.mjs': "import 'hono'\n" },
  },
  neutral: {
    'a Node module': withLine("export { Buffer } from 'node:buffer'"),
    'a Node module without its prefix': withLine("export { readFile } from 'fs/promises'"),
    'the types of browsers by a reference': { [index]: `/// <reference lib="dom" />\n${source}` },
    'Node types by a reference': { [index]: `/// <reference types="node" />\n${source}` },
    'Node types by the configuration': { 'packages/server/tsconfig.json': '{ "compilerOptions": { "types": [] } }' },
  },
  'named-exports': {
    star: withLine("export * from '@mcpx/protocol'"),
    'a named star': withLine("export * as protocol from '@mcpx/protocol'"),
    'a star of types': withLine("export type * from '@mcpx/protocol'"),
    default: withLine('export default server'),
    'as default': withLine('export { server as default }'),
  },
  'nothing-left-over': {
    'a TODO': withLine('// TODO: later'),
    'a FIXME': withLine('/* FIXME */'),
    '@ts-ignore': withLine('// @ts-ignore'),
    '@ts-expect-error': withLine('// @ts-expect-error it is so'),
  },
  manifests: {
    'another name': {
      'packages/server/package.json': manifest('servant', { dependencies: { '@mcpx/protocol': '*' } }),
    },
    'side effects': withManifest({ sideEffects: true }),
    'with its sources': withManifest({ files: ['dist', 'src', 'README.md', 'LICENSE'] }),
    'not for all': withManifest({ publishConfig: { exports: { '.': entry, './package.json': './package.json' } } }),
  },
  'entry-points': {
    'no source': withManifest({ exports: { '.': entry, './package.json': './package.json' } }),
    'a source that does not exist': withManifest({
      exports: { '.': { source: './src/main.ts', ...entry }, './package.json': './package.json' },
    }),
    'four subpaths': fourSubpaths(),
  },
  'published-exports': {
    'with the source': withManifest({
      publishConfig: {
        access: 'public',
        exports: { '.': { source: './src/index.ts', ...entry }, './package.json': './package.json' },
      },
    }),
    none: withManifest({ publishConfig: { access: 'public' } }),
  },
  'whole-build': { 'a package left out': { 'tsconfig.json': '{ "references": [{ "path": "packages/protocol" }] }' } },
  'paths-in-docs': {
    'a path from the root': withDoc('It is in `packages/server/src/gone.ts`.'),
    'the end of a path': withDoc('It is in `eras/gone.ts`.'),
    'a folder': withDoc('It is in `packages/gone/`.'),
    'a pattern': withDoc('They are `packages/*/src/gone/**`.'),
    'after a fenced block': withDoc('```\n`scripts/x`\n```\nIt is in `scripts/gone.mjs`.'),
  },
  'links-in-docs': {
    'an inline link': withDoc('See [style](STYLE.md).'),
    'a reference': withDoc('See [style].\n\n[style]: ../STYLE.md#top'),
  },
  'anchors-in-docs': {
    'in the document itself': withDoc('# Title\n\nSee [there](#there).'),
    'in another document': { ...withDoc('# Title'), 'README.md': 'See [it](docs/ARCHITECTURE.md#the-title).\n' },
  },
  'no-machine': {
    'a home folder': withDoc(`See /${'home'}/somebody/notes.`),
    'a registry': { 'pnpm-lock.yaml': `tarball: https://${'registry'}.example.com/x\n` },
    'a tarball': { 'pnpm-lock.yaml': `tarball: https://mirror.example/x/${'-'}/x-1.0.0.tgz\n` },
  },
}

function fourSubpaths(): Files {
  const names = ['index', 'a', 'b', 'c', 'd']
  const published = names.map((name) => {
    const path = name === 'index' ? '.' : `./${name}`
    return [path, { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` }] as const
  })
  const exports = published.map(([path, entry], i) => [path, { source: `./src/${names[i]}.ts`, ...entry }])
  const publishConfig = { access: 'public', exports: Object.fromEntries(published) }
  return {
    ...Object.fromEntries(names.map((name) => [`packages/server/src/${name}.ts`, source])),
    ...withManifest({ exports: Object.fromEntries(exports), publishConfig }),
  }
}
