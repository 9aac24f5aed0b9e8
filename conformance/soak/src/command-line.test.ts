import { describe, expect, it } from 'vitest'
import { readCommandLine } from './command-line.ts'
import { distribute, mayBreak } from './connections.ts'
import { operations, pickOperation } from './operations.ts'
import { createRandom } from './random.ts'

describe('the command line', () => {
  it('has defaults of one hour and 200 connections', () => {
    expect(readCommandLine([])).toMatchObject({ duration: 3_600_000, connections: 200, seed: 1, faults: true })
    expect(readCommandLine(['--no-faults'])).toMatchObject({ faults: false, defects: [] })
    expect(readCommandLine(['--help', '--seed', 'x'])).toBe('help')
  })

  it.each([
    ['180', 180_000],
    ['90s', 90_000],
    ['2.5m', 150_000],
    ['1h', 3_600_000],
  ])('reads the duration %s', (given, duration) => {
    expect(readCommandLine(['--duration', given])).toMatchObject({ duration })
  })

  it.each([
    [['--duration', '10'], "--duration: expected 30 s or more, such as 180, 90s, 5m or 1h, got '10'"],
    [['--duration', 'soon'], /--duration: expected .*got 'soon'/],
    [['--connections', '5'], "--connections: expected an integer from 40, got '5'"],
    [['--rate', '1.5'], "--rate: expected an integer from 1, got '1.5'"],
    [['--defect', 'none'], "--defect: expected some of heap, handles, sessions, slow, lost, unnamed, got 'none'"],
    [['--connection', '5'], /Unknown option '--connection'/],
  ])('refuses %j', (args, message) => {
    expect(() => readCommandLine(args)).toThrow(message)
  })
})

describe('the connections', () => {
  it('are of every kind, and half of those over HTTP have faults', () => {
    const kinds = distribute(200, true)
    expect(kinds).toHaveLength(200)
    expect(new Set(kinds.map(({ revision }) => revision)).size).toBe(5)
    expect(new Set(kinds.map(({ over }) => over)).size).toBe(3)
    const broken = kinds.filter((kind) => mayBreak(kind)).length
    expect(broken).toBeGreaterThan(80)
    expect(broken).toBeLessThan(110)
  })

  it('are of every kind even if they are few', () => {
    expect(new Set(distribute(40, true))).toEqual(new Set(distribute(400, true)))
  })

  it.each([40, 41, 60, 200, 500])('are %i, without faults if asked for', (connections) => {
    const kinds = distribute(connections, false)
    expect(kinds).toHaveLength(connections)
    expect(kinds.filter((kind) => mayBreak(kind))).toEqual([])
  })
})

it('picks each operation that a revision has, and the same ones for the same seed', () => {
  const pickAll = (revision: '2024-11-05' | '2026-07-28') => {
    const random = createRandom(3)
    return Array.from({ length: 2_000 }, () => pickOperation(revision, random).name)
  }
  expect(new Set(pickAll('2026-07-28')).size).toBe(operations.length)
  expect(new Set(pickAll('2024-11-05'))).not.toContain('call with two questions')
  expect(pickAll('2026-07-28')).toEqual(pickAll('2026-07-28'))
})
