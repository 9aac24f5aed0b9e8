import { describe, expect, it } from 'vitest'
import { contentFaults } from './contents.ts'
import type { PackedManifest, Tarball } from './tarball.ts'

const manifest: PackedManifest = {
  name: '@mcpx/one',
  version: '1.0.0',
  exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' }, './package.json': './package.json' },
  dependencies: { zod: '^4.0.0' },
}

const good: Readonly<Record<string, string>> = {
  'package.json': '{}',
  LICENSE: 'MIT',
  'README.md': '# One',
  'dist/index.js': 'import { one } from "./chunks/one.js";\n// All of it.\nexport { one };\n',
  'dist/index.d.ts': 'export declare const one = 1\n//# sourceMappingURL=index.d.ts.map\n',
  'dist/index.d.ts.map': '{ "sources": ["../src/index.ts"] }',
  'dist/chunks/one.js': 'export const one = () => import("./later.js");\n//# sourceMappingURL=one.js.map\n',
  'dist/chunks/one.js.map': '{ "sources": ["../../src/one.ts"] }',
  'dist/chunks/later.js': 'export { one } from "./one.js";\n',
  'src/index.ts': "export { one } from './one.ts'\n",
  'src/one.ts': 'export const one = 1\n',
}

/** Returns the faults of the good tarball with some files replaced, or removed by `undefined`. */
function faults(files: Readonly<Record<string, string | undefined>>, changes: Partial<PackedManifest> = {}): string[] {
  const all = Object.entries({ ...good, ...files }).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, Buffer.from(text)] as const],
  )
  const bytes = Buffer.alloc(0)
  const tarball: Tarball = { path: '', bytes, files: new Map(all), manifest: { ...manifest, ...changes } }
  return contentFaults(tarball, '/here/is/the/repository')
}

describe('the contents of a tarball', () => {
  it('have no faults if they are complete', () => {
    expect(faults({})).toEqual([])
  })

  it.each(['LICENSE', 'README.md'])('must have %s', (name) => {
    expect(faults({ [name]: undefined })).toEqual([`${name} is missing`])
    expect(faults({ [name]: '' })).toEqual([`${name} is missing`])
  })

  it.each([
    ['src/index.test.ts', 'is a test'],
    ['src/peer.fixture.ts', 'is a test'],
    ['dist/fixtures/a.json', 'belongs to tests or tools'],
    ['tsconfig.tsbuildinfo', 'belongs to the compiler'],
    ['.env', 'is hidden'],
  ])('must not have %s', (name, reason) => {
    expect(faults({ [name]: 'x' })).toEqual([`${name} ${reason}`])
  })

  it('must not contain a path of the build machine', () => {
    expect(faults({ 'src/one.ts': '// see /here/is/the/repository/x' })).toEqual([
      'src/one.ts contains a path of the build machine',
    ])
  })

  it('must have source maps that refer to included sources', () => {
    expect(faults({ 'dist/chunks/one.js': 'export const one = () => import("./later.js");\n' })).toEqual([
      'dist/chunks/one.js has no source map',
    ])
    expect(faults({ 'dist/chunks/one.js.map': undefined })).toEqual(['dist/chunks/one.js.map is missing'])
    expect(faults({ 'src/one.ts': undefined })).toEqual([
      'dist/chunks/one.js.map refers to src/one.ts, which is not in the tarball: delete dist and build again',
    ])
    expect(faults({ 'dist/index.d.ts.map': undefined })).toEqual(['dist/index.d.ts.map is missing'])
  })

  it('must not have code that no entry imports', () => {
    expect(faults({ 'dist/old.js': 'export { one } from "./chunks/one.js";\n' })).toEqual([
      'dist/old.js is not reached from any entry: delete dist and build again',
    ])
  })

  it('must not have types of a deleted source', () => {
    const types = 'export declare const old = 1\n//# sourceMappingURL=old.d.ts.map\n'
    expect(faults({ 'dist/old.d.ts': types, 'dist/old.d.ts.map': '{ "sources": ["../src/old.ts"] }' })).toEqual([
      'dist/old.d.ts.map refers to src/old.ts, which is not in the tarball: delete dist and build again',
    ])
  })

  it('must have the targets of all entries, and no `source` condition', () => {
    const entry = { source: './src/index.ts', types: './dist/gone.d.ts', default: './dist/index.js' }
    expect(faults({}, { exports: { '.': entry } })).toEqual([
      'the entry . refers to ./dist/gone.d.ts (types), which is not in the tarball',
      'the entry . has a `source` condition',
    ])
    expect(faults({}, { exports: { '.': './dist/index.js' } })).toEqual(['the entry . has no types'])
  })

  it('must have its programs, with the line that names the runtime', () => {
    expect(faults({}, { bin: { one: './dist/gone.js', other: './dist/index.js' } })).toEqual([
      'the program one refers to ./dist/gone.js, which is not in the tarball or does not begin with #!/usr/bin/env node',
      'the program other refers to ./dist/index.js, which is not in the tarball or does not begin with #!/usr/bin/env node',
    ])
  })

  it('must have the targets of links in the README', () => {
    const readme = '[a](#part) [b](https://example.com/x) [c](LICENSE) [d](../../docs/guide.md#e) [f](src/gone.ts)'
    expect(faults({ 'README.md': readme })).toEqual([
      'README.md links to ../../docs/guide.md, which is not in the tarball',
      'README.md links to src/gone.ts, which is not in the tarball',
    ])
  })

  it('must be built after the version is set', () => {
    const built = (version: string) => ({
      'src/one.ts': 'declare const PACKAGE_VERSION: string',
      'dist/chunks/one.js': `export { two } from "./later.js";\nconst version = "${version}";\n//# sourceMappingURL=one.js.map\n`,
    })
    expect(faults(built('1.0.0'))).toEqual([])
    expect(faults(built('0.0.0'))).toEqual(['dist does not contain the version 1.0.0: build after the version is set'])
  })

  it('must not depend on ranges that only this repository can install', () => {
    expect(faults({}, { dependencies: { zod: 'catalog:' }, peerDependencies: { '@mcpx/two': 'workspace:*' } })).toEqual(
      [
        'depends on zod as catalog:, which cannot be installed from a registry',
        'depends on @mcpx/two as workspace:*, which cannot be installed from a registry',
      ],
    )
  })
})
