/** Builds the JavaScript of the package in the current folder: one file per entry and program, with source maps. `tsc -b` writes the types. */
import { readFileSync } from 'node:fs'
import { defineConfig } from 'rolldown'
import { parseSync, Visitor } from 'rolldown/utils'

const { exports, bin = {}, version } = JSON.parse(readFileSync('package.json', 'utf8'))
const entries = Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : Object.values(entry)))
const files = [...entries, ...Object.values(bin)]
const names = new Set(files.flatMap((file) => /^\.\/dist\/(.+)\.js$/.exec(file)?.[1] ?? []))

/**
 * Marks each call of `z` as free of side effects. Bundlers such as esbuild do not read the annotations of zod, and would add
 * all schemas of a package to each bundle.
 */
const markSchemasAsPure = {
  name: 'mark schemas as pure',
  renderChunk(code, { fileName, imports }, _options, { magicString }) {
    if (!imports.includes('zod/mini')) return null
    new Visitor({
      CallExpression({ callee, start }) {
        if (callee.object?.name === 'z') magicString.appendLeft(start, '/* @__PURE__ */ ')
      },
    }).visit(parseSync(fileName, code).program)
    return magicString
  },
}

// biome-ignore lint/style/noDefaultExport: rolldown reads its configuration from the default export
export default defineConfig({
  input: Object.fromEntries([...names].map((name) => [name, `src/${name}.ts`])),
  platform: 'neutral',
  external: /^[^./]/,
  plugins: [markSchemasAsPure],
  experimental: { nativeMagicString: true },
  transform: { define: { PACKAGE_VERSION: JSON.stringify(version) } },
  output: {
    dir: 'dist',
    cleanDir: true,
    chunkFileNames: 'chunks/[name].js',
    sourcemap: true,
    // The sources are published beside the maps.
    sourcemapExcludeSources: true,
  },
})
