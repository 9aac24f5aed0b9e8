/**
 * Runs the official test suite of JSON Schema against our validator, and says which groups of tests fail:
 * `node conformance/schema/src/json-schema-suite.ts <folder with the repository of the suite>`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createJsonSchemaValidator, type JsonSchema } from '@mcpx/json-schema'

interface Group {
  readonly description: string
  readonly schema: JsonSchema
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[]
}

const dialects = {
  'draft2020-12': 'https://json-schema.org/draft/2020-12/schema',
  draft7: 'http://json-schema.org/draft-07/schema#',
} as const

/** The tests of a group that fail, each in a sentence. */
function failuresOf({ schema, tests }: Group, $schema: string, formats: 'assert' | 'annotate'): string[] {
  try {
    const declared = typeof schema === 'object' ? { $schema, ...schema } : schema
    const check = createJsonSchemaValidator({ formats }).compile(declared)
    const wrong = tests.filter(({ data, valid }) => check(data).valid !== valid)
    return wrong.map(({ description, valid }) => `${description}: should be ${valid ? 'valid' : 'invalid'}`)
  } catch (error) {
    return tests.map(() => `refused: ${error instanceof Error ? error.message : error}`)
  }
}

/** Of required tests, format is an annotation; the optional ones about formats assert it. */
function runFolder(folder: string, $schema: string, formats: 'assert' | 'annotate'): string[] {
  let passed = 0
  let all = 0
  const lines: string[] = []
  for (const file of readdirSync(folder).filter((each) => each.endsWith('.json'))) {
    const groups = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Group[]
    for (const group of groups) {
      const failures = failuresOf(group, $schema, formats)
      all += group.tests.length
      passed += group.tests.length - failures.length
      if (failures.length > 0) lines.push(`  ${failures.length} in ${file}, ${group.description}: ${failures[0]}`)
    }
  }
  return [`${passed} of ${all} pass`, ...lines]
}

const [suite] = process.argv.slice(2)
if (suite === undefined) throw new Error('Name the folder of the test suite')
for (const [dialect, $schema] of Object.entries(dialects)) {
  for (const [kind, formats] of [
    ['', 'annotate'],
    ['optional', 'annotate'],
    ['optional/format', 'assert'],
  ] as const) {
    const lines = runFolder(join(suite, 'tests', dialect, kind), $schema, formats)
    console.log(`${dialect}, ${kind || 'required'}: ${lines.join('\n')}`)
  }
}
