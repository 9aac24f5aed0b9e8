/** Writes what the kept results say into the documents. `node conformance/interop/src/write-support.ts` */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readRecord as readOfficial } from '../../official/src/record.ts'
import { withSection } from './marked-section.ts'
import { officialSection } from './official.ts'
import { readRecord } from './record.ts'
import { revisionsSection } from './revisions.ts'
import { shortSection, wholeSection } from './support.ts'

const record = readRecord()
write('docs/spec-support.md', 'official', officialSection(readOfficial()))
write('docs/spec-support.md', 'interop', wholeSection(record))
write('README.md', 'interop', shortSection(record))
write('README.md', 'revisions', revisionsSection(record, readOfficial()))

function write(name: string, section: string, text: string): void {
  const path = pathOf(name)
  writeFileSync(path, withSection(readFileSync(path, 'utf8'), section, text))
  console.log(`${name}: ${section} was written`)
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../../../${name}`, import.meta.url))
}
