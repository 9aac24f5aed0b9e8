/** Runs the cases of a contract suite on implementations that break one promise each. */

import { describe, expect, it } from 'vitest'
import { type ContractCase, ContractError } from './index.ts'

/** For each case: an implementation that breaks the rule, and the line of the error that names the problem. */
export type BrokenImplementations<T> = Readonly<
  Record<string, readonly [implementation: () => T, problem: string | RegExp]>
>

/** Requires that each case fails for its broken implementation, and that there is one for every case. */
export function expectFailures<T>(
  name: string,
  suite: (create: () => T) => readonly ContractCase[],
  broken: BrokenImplementations<T>,
): void {
  describe(name, () => {
    it('has a broken implementation for every case', () => {
      const names = suite(() => {
        throw new Error('never called')
      }).map((each) => each.name)
      expect(Object.keys(broken)).toEqual(names)
    })

    it.each(Object.entries(broken))('fails the case: %s', async (promise, [create, problem]) => {
      const found = suite(create).find((each) => each.name === promise)
      const error = await found?.run().then(
        () => 'no error',
        (reason: unknown) => reason,
      )
      expect(error).toBeInstanceOf(ContractError)
      const { message } = error as ContractError
      const [first = '', second = '', ...rest] = message.split('\n')
      expect(first).toMatch(/^An? .+/)
      expect(first.endsWith(` ${promise}`), first).toBe(true)
      if (typeof problem === 'string') expect(second.trim()).toBe(problem)
      else expect(second.trim()).toMatch(problem)
      expect(rest).toEqual([])
    })
  })
}
