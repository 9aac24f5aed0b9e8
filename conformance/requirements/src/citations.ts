/** Finds the tests that say which requirements they show: by ids in brackets at the end of their name. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../..', import.meta.url))

export interface Citation {
  readonly id: string
  /** From the root. */
  readonly path: string
  /** The name of the test, without its ids. */
  readonly test: string
}

/** A text between quotes that is the first thing in parentheses and ends in ids. */
const name = /\(\s*(['"`])((?:(?!\1).)*?) \[((?:[SCX]-\d+(?:, )?)+)\]\1,/g

/** The citations in the text of one test file. */
export function citationsIn(source: string, path: string): Citation[] {
  return [...source.matchAll(name)].flatMap(([, , test = '', ids = '']) =>
    ids.split(', ').map((id) => ({ id, path, test })),
  )
}

/** All citations, in the order of files. */
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
    // Packages of data have no sources.
    return []
  }
}
