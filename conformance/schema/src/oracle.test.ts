import type { Revision } from '@mcpx/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errata } from './errata.ts'
import { createJudge, type Edit, type Judge } from './judge.ts'
import { leniencies } from './leniency.ts'
import type { Leniency } from './leniency-entry.ts'
import { createRandom, mutate } from './mutate.ts'
import { type Definitions, type JsonSchema, type OfficialSchema, officialSchemas } from './official.ts'
import { ourNames, ourVerdict } from './ours.ts'
import { samplesOf } from './sample.ts'
import { strictnesses } from './strictness.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`oracle.test.ts: FC_SEED=${seed}`)

const WHOLE = 40
const SPOILT_EACH = 5

function editsFor(revision: Revision, list: readonly { revisions: readonly Revision[]; edit: Edit }[]): Edit[] {
  return list.filter(({ revisions }) => revisions.includes(revision)).map(({ edit }) => edit)
}

/** The official schema as it is meant, and as lenient as we are, but for one leniency. */
function judgesOf(schema: OfficialSchema, except?: Leniency): { official: Judge; lenient: Judge } {
  const meant = editsFor(schema.revision, [...errata, ...strictnesses])
  const ours = editsFor(
    schema.revision,
    leniencies.filter((each) => each !== except),
  )
  return { official: createJudge(schema, meant), lenient: createJudge(schema, [...meant, ...ours]) }
}

/** Samples name a revision that exists, mostly: of others an envelope is read in part. */
function forSampling(schema: OfficialSchema): Definitions {
  const copy = structuredClone(schema.definitions)
  const version = copy.RequestMetaObject?.properties?.['io.modelcontextprotocol/protocolVersion'] as
    | JsonSchema
    | undefined
  if (version !== undefined) version.enum = ['2026-07-28', '2026-07-28', '2026-07-28', '2099-01-01']
  return copy
}

/** Values that a definition describes, and as many times more that were spoilt in one place each. */
function* valuesOf(definitions: Definitions, name: string, round = 0): Generator<unknown> {
  const random = createRandom(seed + round + name.length)
  for (const whole of fc.sample(samplesOf(definitions, name), { seed: seed + round, numRuns: WHOLE })) {
    yield whole
    for (let i = 0; i < SPOILT_EACH; i += 1) yield mutate(whole, random)
  }
}

const total = { values: 0, taken: 0 }

describe.each(officialSchemas.map((schema) => [schema.revision, schema] as const))('%s', (revision, schema) => {
  const names = Object.keys(schema.definitions)
  const definitions = forSampling(schema)

  it('has a verdict of ours on each official definition', () => {
    const missing = names.filter((name) => ourVerdict(name, revision, schema.definitions) === undefined)
    expect(missing).toEqual([])
  })

  it('judges every value as we do', () => {
    const { official, lenient } = judgesOf(schema)
    const differing: string[] = []
    for (const name of names) {
      const verdict = ourVerdict(name, revision, schema.definitions)
      for (const value of valuesOf(definitions, name)) {
        const ours = verdict?.(value, revision)
        const theirs = lenient(name, value)
        total.values += 1
        if (ours) total.taken += 1
        if (ours !== theirs) differing.push(`${name}: we ${ours ? 'take' : 'refuse'} ${JSON.stringify(value)}`)
        if (!ours && official(name, value)) differing.push(`${name}: officially right ${JSON.stringify(value)}`)
      }
    }
    expect(differing.sort((a, b) => a.length - b.length).slice(0, 10)).toEqual([])
  })

  it.each(leniencies.filter((each) => each.revisions.includes(revision)).map((each) => [each.what, each] as const))(
    'needs to be lenient about: %s',
    (_, leniency) => {
      const { lenient } = judgesOf(schema, leniency)
      const seenIn = leniency.seenIn.filter((name) => names.includes(name))
      expect(seenIn).not.toEqual([])
      const lenientOnes = forSampling(schema)
      leniency.edit(lenientOnes)
      const isSeen = (name: string, round: number): boolean => {
        const verdict = ourVerdict(name, revision, schema.definitions)
        const values = [...valuesOf(definitions, name, round), ...valuesOf(lenientOnes, name, round)]
        return values.some((value) => verdict?.(value, revision) && !lenient(name, value))
      }
      const rounds = Array.from({ length: 30 }, (__, round) => round)
      expect(rounds.some((round) => seenIn.some((name) => isSeen(name, round)))).toBe(true)
    },
  )
})

describe('the tables', () => {
  it('were judged by enough values of both kinds', () => {
    console.log(`oracle.test.ts: ${total.values} values, ${total.taken} of them taken`)
    expect(total.values).toBeGreaterThan(100_000)
    expect(total.taken).toBeGreaterThan(20_000)
    expect(total.values - total.taken).toBeGreaterThan(20_000)
  })

  it('name no definition that no revision has', () => {
    const known = new Set(officialSchemas.flatMap(({ definitions }) => Object.keys(definitions)))
    expect(ourNames.filter((name) => !known.has(name))).toEqual([])
    expect(known.size).toBe(192)
  })

  it('put right only what is wrong', () => {
    for (const { why, revisions, edit } of [...errata, ...strictnesses.map((each) => ({ ...each, why: each.what }))]) {
      for (const { revision, definitions } of officialSchemas) {
        if (!revisions.includes(revision)) continue
        const changed = structuredClone(definitions)
        edit(changed)
        expect(changed, `${revision}: ${why}`).not.toEqual(definitions)
      }
    }
  })
})
