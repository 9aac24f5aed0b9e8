import { expect, it } from 'vitest'
import { FileReports } from './loaded-files.ts'

const OUTPUT = 'one\n\0mcpx-file:/a/b.ts\0two\0mcpx-file:/c d.ts\0 \0 three\n'

it('separates reports from text, wherever the text is cut', () => {
  for (let cut = 0; cut <= OUTPUT.length; cut++) {
    const reports = new FileReports()
    const parts = [reports.read(OUTPUT.slice(0, cut)), reports.read(OUTPUT.slice(cut))]
    expect(parts.flatMap(({ files }) => files)).toEqual(['/a/b.ts', '/c d.ts'])
    expect(parts.map(({ text }) => text).join('')).toBe('one\ntwo \0 three\n')
  }
})

it('passes on text that only begins like a report', () => {
  const reports = new FileReports()
  expect(reports.read(`\0mcpx-file:${'x'.repeat(9_000)}`).text).toHaveLength(9_011)
  expect(reports.read('\0mcpx-other').text).toBe('\0mcpx-other')
})
