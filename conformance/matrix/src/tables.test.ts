import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REVISIONS } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { behaviours } from './behaviours.ts'
import { carrierNames, exists } from './carriers.ts'
import { gaps } from './gaps.ts'
import { skipOf } from './matrix.ts'
import { skips } from './skips.ts'

const names = Object.keys(behaviours)
const twice = (all: readonly string[]) => all.filter((each, index) => all.indexOf(each) !== index)

describe('the table of what revisions do not have, skips.ts', () => {
  it('names behaviours that exist, and says why', () => {
    expect(skips.filter(({ behaviour }) => !names.includes(behaviour))).toEqual([])
    for (const { reason } of skips) expect(reason).toMatch(/\S/)
  })

  it('names each pair of behaviour and revision once, and no entry for nothing', () => {
    expect(
      twice(skips.flatMap(({ behaviour, revisions }) => revisions.map((revision) => `${behaviour}: ${revision}`))),
    ).toEqual([])
    for (const { revisions } of skips) expect(revisions.length).toBeGreaterThan(0)
  })

  it('leaves no behaviour that exists nowhere', () => {
    expect(names.filter((name) => REVISIONS.every((revision) => skipOf(name, revision)))).toEqual([])
  })
})

describe('the table of what carriers cannot do, gaps.ts', () => {
  const pairs = gaps.flatMap(({ carriers, behaviours }) =>
    carriers.flatMap((carrier) => behaviours.map((behaviour) => ({ carrier, behaviour }))),
  )

  it('names behaviours that exist, on carriers that could have them, and says why', () => {
    expect(gaps.flatMap(({ behaviours }) => behaviours).filter((each) => !names.includes(each))).toEqual([])
    const isIdle = ({ carrier, behaviour }: (typeof pairs)[number]) =>
      REVISIONS.every((revision) => !exists(carrier, revision) || skipOf(behaviour, revision))
    expect(pairs.filter(isIdle)).toEqual([])
    for (const { reason } of gaps) expect(reason).toMatch(/\S/)
  })

  it('names each pair of behaviour and carrier once', () => {
    expect(twice(pairs.map(({ carrier, behaviour }) => `${behaviour}: ${carrier}`))).toEqual([])
  })

  it('leaves no carrier that is not tried', () => {
    const tests = readdirSync(import.meta.dirname).filter((file) => /^(?:in|over)-.*\.test\.ts$/.test(file))
    const tried = tests.flatMap((file) => {
      const [, list = ''] = /^tryOver\((.*)\)$/m.exec(readFileSync(join(import.meta.dirname, file), 'utf8')) ?? []
      return [...list.matchAll(/'([^']+)'/g)].map(([, carrier]) => carrier)
    })
    expect(tried.sort()).toEqual([...carrierNames].sort())
  })
})
