/** Two outside opinions on how a tarball resolves: publint and "are the types wrong?". */
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core'
import { problemKindInfo } from '@arethetypeswrong/core/problems'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import type { Tarball } from './tarball.ts'

/** What publint remarks, suggestions included. */
export async function publintFaults({ bytes, manifest }: Tarball): Promise<string[]> {
  const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
  const { messages } = await publint({ pack: { tarball }, level: 'suggestion', strict: true })
  return messages.map((message) => formatMessage(message, manifest, { color: false }) ?? message.code)
}

/** The resolutions of CommonJS: our packages are ESM only, and say so. */
const notOurs = new Set(['node10', 'node16-cjs'])

/** What is wrong with the types, as ESM sees them. */
export async function typeFaults({ bytes }: Tarball): Promise<string[]> {
  const result = await checkPackage(createPackageFromTarballData(bytes))
  if (result.types === false) return ['there are no types']
  return result.problems.filter(concernsEsm).map((problem) => {
    const where = 'entrypoint' in problem ? `${problem.entrypoint} (${problem.resolutionKind})` : ''
    return `${problemKindInfo[problem.kind].title} ${where || JSON.stringify(problem)}`
  })
}

function concernsEsm(problem: Problem): boolean {
  return !('resolutionKind' in problem && notOurs.has(problem.resolutionKind))
}
