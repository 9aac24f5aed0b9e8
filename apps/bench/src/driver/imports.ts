/** Measures an import: its time in a new process, and the number of loaded files. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pinned } from '../machine.ts'
import type { JobOf, Sample } from './job.ts'

const run = promisify(execFile)
const importer = fileURLToPath(new URL('../../subjects/parts/importer.mjs', import.meta.url))

export async function measureImports({ specifiers }: JobOf<'imports'>): Promise<Sample> {
  return imported('time', specifiers)
}

export async function measureModules({ specifiers }: JobOf<'modules'>): Promise<Sample> {
  return imported('files', specifiers)
}

async function imported(measure: 'time' | 'files', specifiers: readonly string[]): Promise<Sample> {
  const [command, args] = pinned([importer, measure, ...specifiers])
  const { stdout } = await run(command, args, { env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production' } })
  return JSON.parse(stdout) as Sample
}
