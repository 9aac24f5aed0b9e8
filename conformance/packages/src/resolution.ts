/** Checks how a tarball resolves, with publint and "are the types wrong?". */
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core'
import { problemKindInfo } from '@arethetypeswrong/core/problems'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import type { Tarball } from './tarball.ts'

/** Returns the messages of publint, including suggestions. */
export async function publintFaults({ bytes, manifest }: Tarball): Promise<string[]> {
  const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
  const { messages } = await publint({ pack: { tarball }, level: 'suggestion', strict: true })
  return messages.map((message) => formatMessage(message, manifest, { color: false }) ?? message.code)
}

/** The resolutions of CommonJS, which do not apply because our packages are ESM only. */
const commonJs = new Set(['node10', 'node16-cjs'])

/** Returns the problems of the types for ESM. */
export async function typeFaults({ bytes }: Tarball): Promise<string[]> {
  const result = await checkPackage(createPackageFromTarballData(bytes))
  if (result.types === false) return ['there are no types']
  return result.problems.filter(concernsEsm).map((error) => {
    const where = 'entrypoint' in error ? `${error.entrypoint} (${error.resolutionKind})` : ''
    return `${problemKindInfo[error.kind].title} ${where || JSON.stringify(error)}`
  })
}

function concernsEsm(error: Problem): boolean {
  return !('resolutionKind' in error && commonJs.has(error.resolutionKind))
}
