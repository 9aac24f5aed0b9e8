import type { Revision } from '@mcpx/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errata } from './errata.ts'
import { leniencies } from './leniency.ts'
import type { Leniency } from './leniency-entry.ts'
import { createRandom, mutate } from './mutate.ts'
import { type Definitions, type JsonSchema, type OfficialSchema, officialSchemas } from './official.ts'
import { createValidator, type Edit, type Validator } from './official-validator.ts'
import { ourNames, ourVerdict } from './our-verdicts.ts'
import { samplesOf } from './sample.ts'
import { strictnesses } from './strictness.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`agreement.test.ts: FC_SEED=${seed}`)

const VALID_SAMPLES = 40
const MUTATIONS_PER_SAMPLE = 5

function editsFor(revision: Revision, list: readonly { revisions: readonly Revision[]; edit: Edit }[]): Edit[] {
  return list.filter(({ revisions }) => revisions.includes(revision)).map(({ edit }) => edit)
}

/** Returns a validator of the corrected official schema, and one with our leniencies except one. */
function createValidators(schema: OfficialSchema, except?: Leniency): { official: Validator; lenient: Validator } {
  const corrections = editsFor(schema.revision, [...errata, ...strictnesses])
  const ours = editsFor(
    schema.revision,
    leniencies.filter((each) => each !== except),
  )
  return { official: createValidator(schema, corrections), lenient: createValidator(schema, [...corrections, ...ours]) }
}

/** Most samples name an existing revision, because only a part of an envelope with an unknown revision is read. */
function forSampling(schema: OfficialSchema): Definitions {
  const copy = structuredClone(schema.definitions)
  const version = copy.RequestMetaObject?.properties?.['io.modelcontextprotocol/protocolVersion'] as
    | JsonSchema
    | undefined
  if (version !== undefined) version.enum = ['2026-07-28', '2026-07-28', '2026-07-28', '2099-01-01']
  return copy
}

/** The valid samples of a definition. Each sample is followed by its mutations. */
function* valuesOf(definitions: Definitions, name: string, round = 0): Generator<unknown> {
  const random = createRandom(seed + round + name.length)
  for (const valid of fc.sample(samplesOf(definitions, name), { seed: seed + round, numRuns: VALID_SAMPLES })) {
    yield valid
    for (let i = 0; i < MUTATIONS_PER_SAMPLE; i += 1) yield mutate(valid, random)
  }
}

const total = { values: 0, accepted: 0 }

describe.each(officialSchemas.map((schema) => [schema.revision, schema] as const))('%s', (revision, schema) => {
  const names = Object.keys(schema.definitions)
  const definitions = forSampling(schema)

  it('has a verdict for each official definition', () => {
    const missing = names.filter((name) => ourVerdict(name, revision, schema.definitions) === undefined)
    expect(missing).toEqual([])
  })

  it('agrees with the official schema on every value', () => {
    const { official, lenient } = createValidators(schema)
    const differing: string[] = []
    for (const name of names) {
      const verdict = ourVerdict(name, revision, schema.definitions)
      for (const value of valuesOf(definitions, name)) {
        const ours = verdict?.(value, revision)
        const theirs = lenient(name, value)
        total.values += 1
        if (ours) total.accepted += 1
        if (ours !== theirs) differing.push(`${name}: we ${ours ? 'accept' : 'reject'} ${JSON.stringify(value)}`)
        if (!ours && official(name, value)) differing.push(`${name}: officially valid ${JSON.stringify(value)}`)
      }
    }
    expect(differing.sort((a, b) => a.length - b.length).slice(0, 10)).toEqual([])
  })

  it.each(leniencies.filter((each) => each.revisions.includes(revision)).map((each) => [each.title, each] as const))(
    'needs the leniency: %s',
    (_, leniency) => {
      const { lenient } = createValidators(schema, leniency)
      const seenIn = leniency.seenIn.filter((name) => names.includes(name))
      expect(seenIn).not.toEqual([])
      const lenientDefinitions = forSampling(schema)
      leniency.edit(lenientDefinitions)
      const isSeen = (name: string, round: number): boolean => {
        const verdict = ourVerdict(name, revision, schema.definitions)
        const values = [...valuesOf(definitions, name, round), ...valuesOf(lenientDefinitions, name, round)]
        return values.some((value) => verdict?.(value, revision) && !lenient(name, value))
      }
      const rounds = Array.from({ length: 30 }, (__, round) => round)
      expect(rounds.some((round) => seenIn.some((name) => isSeen(name, round)))).toBe(true)
    },
  )
})

describe('the tables', () => {
  it('were compared with enough valid and invalid values', () => {
    console.log(`agreement.test.ts: ${total.values} values, ${total.accepted} of them accepted`)
    expect(total.values).toBeGreaterThan(100_000)
    expect(total.accepted).toBeGreaterThan(20_000)
    expect(total.values - total.accepted).toBeGreaterThan(20_000)
  })

  it('name only definitions of some revision', () => {
    const known = new Set(officialSchemas.flatMap(({ definitions }) => Object.keys(definitions)))
    expect(ourNames.filter((name) => !known.has(name))).toEqual([])
    expect(known.size).toBe(192)
  })

  it('contain only edits that change a schema', () => {
    for (const { reason, revisions, edit } of [...errata, ...strictnesses]) {
      for (const { revision, definitions } of officialSchemas) {
        if (!revisions.includes(revision)) continue
        const changed = structuredClone(definitions)
        edit(changed)
        expect(changed, `${revision}: ${reason}`).not.toEqual(definitions)
      }
    }
  })
})
