/** Measures an import: its time in a new process, and the number of loaded files. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { pinned } from '../machine.ts'
import type { Imports, JobOf, Sample } from './job.ts'

const run = promisify(execFile)
const importer = fileURLToPath(new URL('../../subjects/parts/importer.mjs', import.meta.url))

export async function measureImports(job: JobOf<'imports'>): Promise<Sample> {
  return imported('time', job)
}

export async function measureModules(job: JobOf<'modules'>): Promise<Sample> {
  return imported('files', job)
}

async function imported(measure: 'time' | 'files', { specifiers, isBundled = false }: Imports): Promise<Sample> {
  if (!isBundled) return runImporter(measure, specifiers)
  const folder = await mkdtemp(join(tmpdir(), 'imports-'))
  try {
    return await runImporter(measure, [await bundle(specifiers, join(folder, 'bundle.cjs'))])
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Imports modules in a new process. */
export async function runImporter(measure: 'time' | 'files', specifiers: readonly string[]): Promise<Sample> {
  const [command, args] = pinned([importer, measure, ...specifiers])
  const { stdout } = await run(command, args, { env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production' } })
  return JSON.parse(stdout) as Sample
}

/** Bundles all exports of the modules into one file for Node, and returns its path. */
async function bundle(specifiers: readonly string[], outfile: string): Promise<string> {
  const contents = specifiers.map((specifier) => `export * from '${specifier}'`).join('\n')
  const resolveDir = fileURLToPath(new URL('.', import.meta.url))
  await build({ stdin: { contents, resolveDir }, bundle: true, platform: 'node', format: 'cjs', outfile })
  return outfile
}
