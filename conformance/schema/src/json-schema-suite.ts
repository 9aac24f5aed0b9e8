/**
 * Runs the official JSON Schema test suite against @mcpx/json-schema and prints the failing groups:
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

/** Returns a description of each failing test of a group. */
function failuresOf({ schema, tests }: Group, $schema: string, formats: 'assert' | 'annotate'): string[] {
  try {
    const declared = typeof schema === 'object' ? { $schema, ...schema } : schema
    const check = createJsonSchemaValidator({ formats }).compile(declared)
    const failing = tests.filter(({ data, valid }) => check(data).valid !== valid)
    return failing.map(({ description, valid }) => `${description}: should be ${valid ? 'valid' : 'invalid'}`)
  } catch (error) {
    return tests.map(() => `rejected: ${error instanceof Error ? error.message : error}`)
  }
}

/** Runs the tests of a folder. `format` is an annotation, except for the optional tests of formats. */
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
if (suite === undefined) throw new Error('argument: expected the folder of the JSON Schema test suite, got none')
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
