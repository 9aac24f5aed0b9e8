/** Writes what the kept results say into the documents. `node conformance/interop/src/write-support.ts` */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { withSection } from './marked-section.ts'
import { readRecord } from './record.ts'
import { shortSection, wholeSection } from './support.ts'

const record = readRecord()
write('docs/spec-support.md', wholeSection(record))
write('README.md', shortSection(record))

function write(name: string, text: string): void {
  const path = fileURLToPath(new URL(`../../../${name}`, import.meta.url))
  writeFileSync(path, withSection(readFileSync(path, 'utf8'), 'interop', text))
  console.log(`${name} was written`)
}
