/** Finds the tests that cite requirements, by the ids in brackets at the end of their title. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../..', import.meta.url))

export interface Citation {
  readonly id: string
  /** The path relative to the root. */
  readonly path: string
  /** The title of the test, without its ids. */
  readonly test: string
}

/** A string literal that is the first argument of a call and ends with ids. */
const name = /\(\s*(['"`])((?:(?!\1).)*?) \[((?:[SCX]-\d+(?:, )?)+)\]\1,/g

/** Returns the citations in the source of a test file. */
export function citationsIn(source: string, path: string): Citation[] {
  return [...source.matchAll(name)].flatMap(([, , test = '', ids = '']) =>
    ids.split(', ').map((id) => ({ id, path, test })),
  )
}

/** Returns all citations, sorted by file. */
export function readCitations(): Citation[] {
  const paths = ['packages', 'conformance'].flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((each) => testsBelow(`${folder}/${each}/src`)),
  )
  return paths.sort().flatMap((path) => citationsIn(readFileSync(join(root, path), 'utf8'), path))
}

function testsBelow(folder: string): string[] {
  try {
    const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    return files.filter((file) => file.endsWith('.test.ts')).map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
  } catch {
    // Some packages have no sources.
    return []
  }
}
