/** Weighs what a package can cost at most where it is bundled: all of its entries, with all that they depend on. */
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { Installed } from './alone.ts'
import { specifiers, type Tarball } from './tarball.ts'

/** In bytes, minified and gzipped. What an entry loads later is counted too; modules of Node are not, nor is what is left out. */
export async function weigh({ manifest }: Tarball, { folder }: Installed, without: readonly string[]): Promise<number> {
  const names = specifiers(manifest)
  const { outputFiles } = await build({
    stdin: {
      contents: names.map((name, index) => `export * as e${index} from '${name}'`).join('\n'),
      resolveDir: folder,
    },
    absWorkingDir: folder,
    outdir: join(folder, 'weighed'),
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['browser'],
    external: ['node:*', 'cloudflare:*', ...without],
    legalComments: 'none',
    write: false,
    logLevel: 'silent',
  })
  return outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0)
}
