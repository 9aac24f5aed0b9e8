/** Bundles the entries for each runtime: with imports of the packages, or with the packages included where imports do not work. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'

const here = fileURLToPath(new URL('..', import.meta.url))
export const out = join(here, 'dist')

const options = {
  absWorkingDir: here,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  logLevel: 'warning',
  metafile: true,
} satisfies BuildOptions

/** The entries of runtimes that resolve packages by themselves. */
const importing = ['serve-node', 'serve-bun', 'serve-deno', 'serve-stdio', 'client', 'pipelined']
const deployed = ['serve-workerd', 'client-workerd', 'guard-workerd']
const carrying = ['client-page']

/** Bundles all entries into `dist`; throws if a bundle contains a source instead of a build of a package. */
export async function bundle(): Promise<void> {
  const path = (name: string): string => `src/entries/${name}.ts`
  const results = await Promise.all([
    build({ ...options, entryPoints: importing.map(path), outdir: out, packages: 'external', platform: 'node' }),
    build({
      ...options,
      entryPoints: deployed.map(path),
      outdir: out,
      platform: 'browser',
      conditions: ['workerd', 'worker'],
    }),
    build({ ...options, entryPoints: carrying.map(path), outdir: out, platform: 'browser' }),
  ])
  const inputs = results.flatMap(({ metafile }) => Object.keys(metafile.inputs))
  const source = inputs.find((input) => /\/packages\/[\w-]+\/src\//.test(input))
  if (source !== undefined) throw new Error(`bundle: expected built packages only, got the source ${source}`)
}
