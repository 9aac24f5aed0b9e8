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
  'dist/index.js': 'export { one } from "./chunks/one.js";\nexport const later = () => import("./chunks/later.js");\n',
  'dist/index.d.ts': 'export declare const one = 1\n',
  'dist/chunks/one.js': 'export const one = 1;\n',
  'dist/chunks/later.js': 'import { one } from "./one.js";\nexport const two = one + 1;\n',
}

/** The faults of the good tarball with some files replaced, or taken out by `undefined`. */
function faults(files: Readonly<Record<string, string | undefined>>, changes: Partial<PackedManifest> = {}): string[] {
  const all = Object.entries({ ...good, ...files }).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, Buffer.from(text)] as const],
  )
  const bytes = Buffer.alloc(0)
  const tarball: Tarball = { path: '', bytes, files: new Map(all), manifest: { ...manifest, ...changes } }
  return contentFaults(tarball, '/here/is/the/repository')
}

describe('the contents of a tarball', () => {
  it('are without fault when all is there', () => {
    expect(faults({})).toEqual([])
  })

  it.each(['LICENSE', 'README.md'])('must have %s', (name) => {
    expect(faults({ [name]: undefined })).toEqual([`${name} is missing`])
    expect(faults({ [name]: '' })).toEqual([`${name} is missing`])
  })

  it.each([
    ['dist/index.test.d.ts', 'is a test'],
    ['dist/fixtures/a.json', 'belongs to tests or tools'],
    ['tsconfig.tsbuildinfo', 'belongs to the compiler'],
    ['.env', 'is hidden'],
    ['src/index.ts', 'is a source: what is built from it is published'],
    ['dist/index.d.ts.map', 'is a map of sources that are not published'],
  ])('must not have %s', (name, why) => {
    expect(faults({ [name]: 'x' })).toEqual([`${name} ${why}`])
  })

  it('must not name a folder of this machine', () => {
    expect(faults({ 'dist/one.d.ts': '// see /here/is/the/repository/x' })).toEqual([
      'dist/one.d.ts names a folder of this machine',
    ])
  })

  it('must not lead to source maps', () => {
    expect(faults({ 'dist/chunks/one.js': 'export const one = 1;\n//# sourceMappingURL=one.js.map\n' })).toEqual([
      'dist/chunks/one.js names a source map',
    ])
  })

  it('must not have code that no entry leads to', () => {
    expect(faults({ 'dist/old.js': 'export { one } from "./chunks/one.js";\n' })).toEqual([
      'dist/old.js is reached from no entry: build again',
    ])
    expect(faults({ 'dist/index.js': 'export { one } from "./chunks/one.js";\n' })).toEqual([
      'dist/chunks/later.js is reached from no entry: build again',
    ])
  })

  it('must not have a module twice', () => {
    const one = '// src/one.ts\nexport const one = 1;\n'
    expect(faults({ 'dist/chunks/one.js': one })).toEqual([])
    expect(faults({ 'dist/chunks/one.js': one, 'dist/chunks/later.js': one })).toEqual([
      'src/one.ts is in dist/chunks/one.js and dist/chunks/later.js',
    ])
  })

  it('must have what the entries lead to, and no way into the sources', () => {
    const entry = { source: './src/index.ts', types: './dist/gone.d.ts', default: './dist/index.js' }
    expect(faults({}, { exports: { '.': entry } })).toEqual([
      'the entry . leads to ./src/index.ts (source), which is not in the tarball',
      'the entry . leads to ./dist/gone.d.ts (types), which is not in the tarball',
      'the entry . has a `source` condition',
    ])
    expect(faults({}, { exports: { '.': './dist/index.js' } })).toEqual(['the entry . has no types'])
  })

  it('must have what its README links to', () => {
    const readme = '[a](#part) [b](https://example.com/x) [c](LICENSE) [d](../../docs/guide.md#e) [f](src/gone.ts)'
    expect(faults({ 'README.md': readme })).toEqual([
      'README.md links to ../../docs/guide.md, which is not in the tarball',
      'README.md links to src/gone.ts, which is not in the tarball',
    ])
  })

  it('must not depend on what only this repository can install', () => {
    expect(faults({}, { dependencies: { zod: 'catalog:' }, peerDependencies: { '@mcpx/two': 'workspace:*' } })).toEqual(
      [
        'depends on zod as catalog:, which nobody else can install',
        'depends on @mcpx/two as workspace:*, which nobody else can install',
      ],
    )
  })
})
