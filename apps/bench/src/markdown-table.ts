/** Writes a table in Markdown, in columns as the formatter of the repository wants them. */

/** The first columns are words, the others numbers. A column that is empty in every row is left out. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[], words = 2): string {
  const columns = header
    .map((name, index) => ({
      cells: [name, ...rows.map((row) => escaped(row[index] ?? ''))],
      isNumber: index >= words,
    }))
    .filter(({ cells: [, ...values] }) => values.some((value) => value !== ''))
    .map(({ cells, isNumber }) => aligned(cells, isNumber))
  return Array.from({ length: rows.length + 2 }, (_, line) => {
    return `| ${columns.map((column) => column[line]).join(' | ')} |`
  }).join('\n')
}

/** The cells of one column, the line below its name included, all of the same width. */
function aligned([name = '', ...values]: readonly string[], isNumber: boolean): string[] {
  const width = Math.max(3, ...[name, ...values].map((cell) => cell.length))
  const pad = (cell: string) => (isNumber ? cell.padStart(width) : cell.padEnd(width))
  return [pad(name), isNumber ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width), ...values.map(pad)]
}

function escaped(cell: string): string {
  return cell.replaceAll('|', '\\|')
}
