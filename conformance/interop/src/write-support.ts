/** Writes what the kept results say into the documents. `node conformance/interop/src/write-support.ts` */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { withSection } from './marked-section.ts'
import { readRecord } from './record.ts'
import { type OfficialResults, revisionsSection } from './revisions.ts'
import { shortSection, wholeSection } from './support.ts'

const record = readRecord()
write('docs/spec-support.md', 'interop', wholeSection(record))
write('README.md', 'interop', shortSection(record))
write('README.md', 'revisions', revisionsSection(record, readOfficial()))

function write(name: string, section: string, text: string): void {
  const path = pathOf(name)
  writeFileSync(path, withSection(readFileSync(path, 'utf8'), section, text))
  console.log(`${name}: ${section} was written`)
}

function readOfficial(): OfficialResults {
  const path = pathOf('.cache/conformance/results.json')
  if (!existsSync(path)) throw new Error('There are no results of the official suite: run `npm run conformance` first')
  return JSON.parse(readFileSync(path, 'utf8'))
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../../../${name}`, import.meta.url))
}
