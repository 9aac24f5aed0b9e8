import { describe, expect, it } from 'vitest'
import { bundle } from './cases/bundle.ts'
import { http } from './cases/http.ts'
import { chooseCases, readCommandLine } from './command-line.ts'

describe('the command line', () => {
  it('accepts names with commas, and several options', () => {
    expect(readCommandLine(['--only', 'http,stdio', '--only', 'bundle']).only).toEqual(['http', 'stdio', 'bundle'])
    expect(readCommandLine([]).only).toBeUndefined()
  })

  it('measures five rounds by default, one with --quick, and as many as --rounds says', () => {
    expect(readCommandLine([]).options.rounds).toBe(5)
    expect(readCommandLine(['--quick']).options.rounds).toBe(1)
    expect(readCommandLine(['--quick', '--rounds', '2']).options.rounds).toBe(2)
    expect(() => readCommandLine(['--rounds', '0'])).toThrow("--rounds: expected a positive integer, got '0'")
  })

  it('does not write results of a quick run', () => {
    expect(() => readCommandLine(['--quick', '--write'])).toThrow('not for the README')
  })

  it('lists the cases for an unknown case', () => {
    expect(chooseCases([http, bundle], ['bundle'])).toEqual([bundle])
    expect(() => chooseCases([http, bundle], ['htpp'])).toThrow("There is no case 'htpp': it is one of http, bundle")
  })
})
