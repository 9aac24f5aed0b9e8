import { describe, expect, it } from 'vitest'
import { coresIn, cpuOf, describeMachine, pinned } from './machine.ts'

describe('a machine', () => {
  it('has the cores that a list names', () => {
    expect(coresIn('0-2,5')).toEqual(['0', '1', '2', '5'])
    expect(coresIn('3')).toEqual(['3'])
    expect(coresIn('')).toEqual([])
    expect(coresIn('none')).toEqual([])
  })

  it('runs on one core what is told to', () => {
    expect(pinned(['a.ts'], '1')).toEqual(['taskset', ['-c', '1', process.execPath, 'a.ts']])
  })

  it('says what it is', () => {
    expect(describeMachine()).toContain(`Node ${process.versions.node}, ${process.platform}`)
  })

  it('tells no processor time of a process that is not there', () => {
    expect(cpuOf(2 ** 30)).toBeUndefined()
  })
})
