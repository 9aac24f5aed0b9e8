/** Formats a Markdown table with aligned columns. */

/** The first columns contain text, the other columns contain numbers. Empty columns are omitted. */
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

/** Returns the cells of a column, including the line below its name, with equal width. */
function aligned([name = '', ...values]: readonly string[], isNumber: boolean): string[] {
  const width = Math.max(3, ...[name, ...values].map((cell) => cell.length))
  const pad = (cell: string) => (isNumber ? cell.padStart(width) : cell.padEnd(width))
  return [pad(name), isNumber ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width), ...values.map(pad)]
}

function escaped(cell: string): string {
  return cell.replaceAll('|', '\\|')
}
