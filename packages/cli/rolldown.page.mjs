/** Bundles the page of `mcpx inspect` into dist/page. The libraries of the page are part of the bundle. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'rolldown'

const folder = fileURLToPath(new URL('src/inspect/page/', import.meta.url))

/** The licenses of the libraries require this note. */
const banner = '/*! Contains preact (MIT, https://preactjs.com) and marked (MIT, https://marked.js.org). */'

// biome-ignore lint/style/noDefaultExport: rolldown reads its configuration from the default export
export default defineConfig({
  input: { page: `${folder}main.tsx` },
  platform: 'browser',
  tsconfig: fileURLToPath(new URL('tsconfig.page.json', import.meta.url)),
  // In the repository, our packages are resolved to their sources.
  resolve: { conditionNames: ['source', 'import', 'default'] },
  plugins: [
    {
      name: 'page-files',
      generateBundle() {
        for (const fileName of ['index.html', 'page.css', 'icon.svg'])
          this.emitFile({ type: 'asset', fileName, source: readFileSync(`${folder}${fileName}`) })
      },
    },
  ],
  output: {
    dir: fileURLToPath(new URL('dist/page/', import.meta.url)),
    entryFileNames: '[name].mjs',
    codeSplitting: false,
    minify: true,
    banner,
  },
})
