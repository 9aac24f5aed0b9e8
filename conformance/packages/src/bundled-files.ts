/** Looks into a bundle for the web: of which of our sources something is in it. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** Where programs are bundled: this folder depends on all of ours. */
export const apps = fileURLToPath(new URL('../../../apps/bench', import.meta.url))

/** The files of a bundle of this code that put something into it. */
export async function filesOf(code: string): Promise<string[]> {
  const { metafile } = await build({
    stdin: { contents: code, resolveDir: apps, loader: 'js' },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    metafile: true,
    external: ['node:*', 'cloudflare:*'],
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['source', 'workerd', 'worker', 'browser'],
    logLevel: 'silent',
  })
  return Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  )
}

export const legacyIn = (files: string[]): string[] => files.filter((path) => /(?:^|\/)packages\/.*\/legacy/.test(path))
