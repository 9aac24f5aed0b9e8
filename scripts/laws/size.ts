/** How long a file may be. The length of functions is checked by the linter. */
import type { Law } from './law.ts'
import type { SourceFile } from './tree.ts'

const MOST_LINES = 250
/** A table of cases reads best in one place. */
const MOST_LINES_OF_TESTS = 400

export const fileSize: Law = {
  name: 'file-size',
  says: `A file has at most ${MOST_LINES} lines of code, a test ${MOST_LINES_OF_TESTS}; comments and blank lines are free.`,
  check: (tree) =>
    tree.sources
      .map((source) => ({ ...source, lines: linesOfCode(source) }))
      .filter(({ lines, isTest }) => lines > (isTest ? MOST_LINES_OF_TESTS : MOST_LINES))
      .map(({ path, lines }) => ({ path, what: `has ${lines} lines of code: split it by what is in it` })),
}

function linesOfCode({ code }: SourceFile): number {
  const lines = new Set<number>()
  for (const { line, lastLine } of code) for (let each = line; each <= lastLine; each += 1) lines.add(each)
  return lines.size
}
