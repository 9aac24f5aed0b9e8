import { describe, expect, it } from 'vitest'
import { coresIn, cpuOf, describeMachine, pinned } from './machine.ts'

describe('a machine', () => {
  it('has the cores of a list', () => {
    expect(coresIn('0-2,5')).toEqual(['0', '1', '2', '5'])
    expect(coresIn('3')).toEqual(['3'])
    expect(coresIn('')).toEqual([])
    expect(coresIn('none')).toEqual([])
  })

  it('runs a process on one core', () => {
    expect(pinned(['a.ts'], '1')).toEqual(['taskset', ['-c', '1', process.execPath, 'a.ts']])
  })

  it('has a description', () => {
    expect(describeMachine()).toContain(`Node ${process.versions.node}, ${process.platform}`)
  })

  it('returns no CPU time for a missing process', () => {
    expect(cpuOf(2 ** 30)).toBeUndefined()
  })
})
