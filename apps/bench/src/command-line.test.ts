import { describe, expect, it } from 'vitest'
import { bundle } from './cases/bundle.ts'
import { http } from './cases/http.ts'
import { chooseCases, readCommandLine } from './command-line.ts'

describe('the command line', () => {
  it('takes names with commas, and more than once', () => {
    expect(readCommandLine(['--only', 'http,stdio', '--only', 'bundle']).only).toEqual(['http', 'stdio', 'bundle'])
    expect(readCommandLine([]).only).toBeUndefined()
  })

  it('measures five times, once when it is to be quick, and as often as it says', () => {
    expect(readCommandLine([]).options.rounds).toBe(5)
    expect(readCommandLine(['--quick']).options.rounds).toBe(1)
    expect(readCommandLine(['--quick', '--rounds', '2']).options.rounds).toBe(2)
    expect(() => readCommandLine(['--rounds', '0'])).toThrow("--rounds: expected a positive integer, got '0'")
  })

  it('writes nothing down that was measured quickly', () => {
    expect(() => readCommandLine(['--quick', '--write'])).toThrow('not for the README')
  })

  it('names the cases there are when there is no such case', () => {
    expect(chooseCases([http, bundle], ['bundle'])).toEqual([bundle])
    expect(() => chooseCases([http, bundle], ['htpp'])).toThrow("There is no case 'htpp': it is one of http, bundle")
  })
})
