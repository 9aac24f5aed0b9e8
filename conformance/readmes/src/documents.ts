/** The documents whose code is compiled and run. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Documents that are tested in their own package. */
const elsewhere = ['packages/protocol/README.md']

const found = [
  'README.md',
  'packages/*/README.md',
  'docs/guides/*.md',
  'docs/hosts/*.md',
  'apps/examples/*.md',
  'apps/examples/*/*.md',
]

export const documents: readonly string[] = found
  .flatMap((pattern) => globSync(pattern, { cwd: root }))
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !elsewhere.includes(path))
  .sort()

export const pathOf = (document: string): string => join(root, document)
