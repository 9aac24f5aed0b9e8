import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { frameFaults } from './stack-traces.ts'

const folder = mkdtempSync(join(tmpdir(), 'stack-'))
mkdirSync(join(folder, 'src'))
writeFileSync(join(folder, 'src/one.ts'), "const a = 1\nthrow new RangeError('a: expected 2, got 1')\n")
afterAll(() => rmSync(folder, { recursive: true }))

const stack = (place: string): string => `RangeError: a\n    at one (${place})\n    at two (/elsewhere/b.js:1:1)\n`

describe('the first frame of a stack trace', () => {
  it.each(['src/one.ts:2:7', 'src/one.ts:2:1'])('may refer to a line that throws: %s', (place) => {
    expect(frameFaults(stack(join(folder, place)), folder)).toEqual([])
    expect(frameFaults(stack(`file://${join(folder, place)}`), folder)).toEqual([])
  })

  it.each(['src/one.ts:1:1', 'src/gone.ts:2:7', 'dist/one.js:2:7'])('must not refer to other places: %s', (place) => {
    expect(frameFaults(stack(join(folder, place)), folder)).toHaveLength(1)
  })

  it('must exist', () => {
    expect(frameFaults('nothing\n', folder)).toHaveLength(1)
  })
})
