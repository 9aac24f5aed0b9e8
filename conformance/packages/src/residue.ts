/** What of a package stays in a bundle of which nobody uses anything: where all can go, what is used comes alone. */
import { posix } from 'node:path'
import { build, type Plugin } from 'esbuild'
import type { Files, Tarball } from './tarball.ts'

/** A fault for each file that leaves something, but for imports of other packages. */
export async function residueFaults({ files }: Pick<Tarball, 'files'>): Promise<string[]> {
  const names = [...files.keys()].filter((name) => /^dist\/.*\.js$/.test(name))
  const left = await Promise.all(names.map(async (name) => ({ name, code: await residueOf(name, files) })))
  return left.filter(({ code }) => code !== '').map(({ name, code }) => `${name} leaves in each bundle: ${code}`)
}

async function residueOf(name: string, files: Files): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: `import './${name}'` },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    write: false,
    logLevel: 'silent',
    plugins: [tarball(files)],
  })
  return (outputFiles[0]?.text ?? '').replace(/import(?:[^";]*from)?"[^"]*";/g, '').trim()
}

/** Resolves to files of the tarball, and says of them that they may do something: `sideEffects: false` would hide it. */
function tarball(files: Files): Plugin {
  return {
    name: 'tarball',
    setup(bundler) {
      bundler.onResolve({ filter: /^\./ }, ({ path, importer, kind }) =>
        kind === 'dynamic-import'
          ? { path, external: true }
          : { path: posix.join(posix.dirname(importer), path), namespace: 'tarball', sideEffects: true },
      )
      bundler.onResolve({ filter: /^[^.]/ }, ({ path }) => ({ path, external: true }))
      bundler.onLoad({ filter: /^/, namespace: 'tarball' }, ({ path }) => ({
        contents: files.get(path)?.toString() ?? '',
      }))
    },
  }
}
