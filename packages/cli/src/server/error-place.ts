/** Finds the place in the user's files that has caused an import error. */

import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadedFiles } from './loaded-files.ts'

/** A line with a place in a stack, such as `/shop/server.ts:3` or `file:///shop/server.ts:3`. */
const PLACE_LINE = /^\s*(?:file:\/\/)?(?:\/|[A-Za-z]:\\).*:\d+$/
/** The largest number of files that are compiled to find a syntax error whose place Node does not name. */
const MAX_CHECKED_FILES = 50

/**
 * Returns the place as `at /shop/server.ts:3`, with the line of the source if it is known, or undefined.
 *
 * @param path the file that was imported
 */
export async function describePlace(error: unknown, path: string): Promise<string | undefined> {
  if (!(error instanceof Error)) return undefined
  const [first = '', ...rest] = error.stack?.split('\n') ?? []
  if (PLACE_LINE.test(first)) {
    const end = rest.findIndex((line) => line.trim() === '' || line.startsWith(error.name))
    return [`at ${toPath(first.trim())}`, ...rest.slice(0, Math.max(end, 0))].join('\n')
  }
  const frame = rest.find((line) => /^\s+at(?: .*)?[ (](?:file:\/\/|\/|[A-Za-z]:\\)/.test(line) && !isOurs(line))
  if (error.name !== 'SyntaxError') return frame?.trim()
  return (await findSyntaxError([...loadedFiles].reverse().concat(path))) ?? frame?.trim()
}

/** The folder of this package. */
const OWN_FOLDER = dirname(fileURLToPath(new URL('.', import.meta.url)))

/** Returns whether a stack frame belongs to a package or to this program, and not to the user's file. */
function isOurs(line: string): boolean {
  return /[\\/]node_modules[\\/]/.test(line) || toPath(line).includes(OWN_FOLDER)
}

/**
 * Compiles files until one has a syntax error. Node does not report the position of a syntax error in an imported
 * JavaScript file.
 */
async function findSyntaxError(paths: readonly string[]): Promise<string | undefined> {
  const { createJiti } = await import('jiti')
  const jiti = createJiti(import.meta.url, { fsCache: false })
  for (const filename of paths.slice(0, MAX_CHECKED_FILES)) {
    const source = await readFile(filename, 'utf8').catch(() => '')
    // The compiler returns a program that throws the error.
    const [, report] =
      /^exports\.__JITI_ERROR__ = (\{.*\})$/.exec(jiti.transform({ source, filename, ts: /tsx?$/.test(filename) })) ??
      []
    if (report === undefined) continue
    const { line, column } = JSON.parse(report) as { line: number; column: number }
    return `at ${filename}:${line}:${column + 1}`
  }
  return undefined
}

function toPath(line: string): string {
  return line.replace(/file:\/\/(?:(?!file:\/\/)[^\s)])+?(?=:\d+)/, (url) => fileURLToPath(url))
}
