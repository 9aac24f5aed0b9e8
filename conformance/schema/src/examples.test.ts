import { LATEST_MODERN_REVISION } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { officialSchemas, readExamples } from './official.ts'
import { ourVerdict } from './our-verdicts.ts'

const revision = LATEST_MODERN_REVISION
const examples = readExamples(revision)
const definitions = officialSchemas.find((schema) => schema.revision === revision)?.definitions ?? {}

describe('the official examples', () => {
  it('are complete', () => {
    expect(examples).toHaveLength(129)
    expect(new Set(examples.map(({ definition }) => definition)).size).toBe(88)
  })

  it.each(examples.map(({ definition, file, value }) => [definition, file, value] as const))(
    '%s: %s',
    (name, _, value) => {
      expect(ourVerdict(name, revision, definitions)?.(value, revision)).toBe(true)
    },
  )
})
