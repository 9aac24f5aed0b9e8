/** Has entries of a package share small things without a file for these: one more takes longer to find than to read. */
import { readFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { Plugin } from 'rolldown'

/** Constants, and functions that keep nothing: an entry that has nothing else in common with others has its own. */
const COPIED = /\/(?:awaitable|headers|limits)\.ts$/
/** The folders of such entries. */
const APART = /\/src\/(client|json-schema|memory)[./]/

/** Classes are there once, in an entry that exports them, for files which are part of another. */
const OWNED: readonly { readonly file: RegExp; readonly owner: string; readonly others: RegExp }[] = [
  { file: /\/connection-error\.ts$/, owner: './index.js', others: /\/src\/memory\// },
  { file: /\/sse-error\.ts$/, owner: './encode.js', others: /\/src\/(?!encode)/ },
]

export function sharing(entries: readonly string[]): Plugin {
  const files = new Set(entries.map((entry) => resolve(entry)))
  return {
    name: 'sharing',
    resolveId(id, importer) {
      if (importer === undefined || !id.startsWith('.')) return null
      const path = resolve(dirname(importer), id)
      if (files.has(path)) return { id: `./${basename(path, '.ts')}.js`, external: true }
      const owned = OWNED.find(({ file, others }) => file.test(path) && others.test(importer))
      if (owned !== undefined) return { id: owned.owner, external: true }
      const part = APART.exec(importer)?.[1]
      return part !== undefined && COPIED.test(path) && !APART.test(path) ? `${path}?of=${part}` : null
    },
    load(id) {
      const [path = id, part] = id.split('?of=')
      return part === undefined ? null : { code: readFileSync(path, 'utf8'), moduleType: 'ts' }
    },
  }
}
