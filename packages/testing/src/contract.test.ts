import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { check, checkEqual, checkError } from './check.ts'
import { ContractError, defineContract, describeContract } from './contract.ts'

describe('a case', () => {
  it('names the rule, the place, and the expected and received values', async () => {
    const [first] = defineContract(
      'A list',
      {},
      { 'keeps its order': async () => checkEqual('the items', [2, 1], [1, 2]) },
    )
    expect(first?.name).toBe('keeps its order')
    const error: unknown = await first?.run().catch((reason) => reason)
    expect(error).toBeInstanceOf(ContractError)
    expect(error).toMatchObject({
      name: 'ContractError',
      message: 'A list keeps its order\n  the items: expected [1,2], got [2,1]',
      rule: 'A list keeps its order',
    })
  })

  it('fails with the error of an implementation that throws, as its cause', async () => {
    const thrown = new TypeError('rows.get is not a function')
    const cases = defineContract('A list', {}, { 'has items': () => Promise.reject(thrown) })
    const error: unknown = await cases[0]?.run().catch((reason) => reason)
    expect(error).toMatchObject({ message: 'A list has items\n  rows.get is not a function', cause: thrown })
  })

  it('fails after its time limit, and names the event that it waited for', async () => {
    const never = new Promise<void>(() => {})
    const cases = defineContract('A list', { timeout: 20 }, { 'has an end': (waitFor) => waitFor('the end', never) })
    await expect(cases[0]?.run()).rejects.toThrow('A list has an end\n  expected the end within 20 ms, got nothing')
  })
})

describe('describeContract', () => {
  it('is repeated when it fails while the machine is too busy, and only then', async () => {
    const work = (ms: number) => {
      const end = performance.now() + ms
      while (performance.now() < end);
    }
    for (const [busy, most] of [
      [100, 2],
      [0, 1],
    ] as const) {
      let tries = 0
      const [first] = defineContract(
        'A try',
        {},
        {
          async 'is the second one'() {
            tries += 1
            if (tries === 1) work(busy)
            checkEqual('the tries', tries, 2)
          },
        },
      )
      const error: unknown = await first?.run().catch((reason) => reason)
      expect(tries).toBe(most)
      expect(error instanceof ContractError).toBe(tries === 1)
    }
  })

  it('registers every case under a name', async () => {
    const registered: string[] = []
    const runs: (() => Promise<void>)[] = []
    const runner = {
      describe(name: string, define: () => void) {
        registered.push(name)
        define()
      },
      it(name: string, run: () => Promise<void>) {
        registered.push(name)
        runs.push(run)
      },
    }
    describeContract('my list', defineContract('A list', {}, { one: async () => {}, two: async () => {} }), runner)
    expect(registered).toEqual(['my list', 'one', 'two'])
    await Promise.all(runs.map((run) => run()))
  })

  it('throws without global functions and without a runner', () => {
    expect(() => describeContract('my list', [])).toThrow('expected global functions describe and it, got none')
  })
})

describe('an assertion', () => {
  it('compares values deeply, where undefined members count as absent', () => {
    checkEqual('a', { b: [1, { c: undefined }], d: Number.NaN }, { b: [1, {}], d: Number.NaN })
    for (const [left, right] of [
      [{}, []],
      [[1], [1, 2]],
      [{ a: 1 }, { b: 1 }],
      [null, {}],
      ['1', 1],
    ]) {
      expect(() => checkEqual('a', left, right), JSON.stringify([left, right])).toThrow('a: expected')
    }
  })

  it('shows at most 300 characters of a value', () => {
    expect(() => check('a', false, 'less', 'x'.repeat(1_000))).toThrow(`a: expected less, got "${'x'.repeat(299)}…`)
  })

  it('requires an Error, and shows other results', async () => {
    await expect(checkError('a', () => 1)).rejects.toThrow('a: expected an Error, got 1')
    await expect(checkError('a', () => Promise.reject('text'))).rejects.toThrow('a: expected an Error, got "text"')
    const error = new RangeError('no')
    expect(await checkError('a', () => Promise.reject(error), { name: 'RangeError' })).toBe(error)
  })
})

it('needs neither a test runner nor the dependencies of the other entries', () => {
  const folder = import.meta.dirname
  const others = ['authorization-server.ts', 'node.ts', 'server.ts', 'vitest.ts']
  const imported = readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !/\.(?:test|fixture)\.ts$/.test(file))
    .filter((file) => !others.includes(file))
    .flatMap((file) => [
      ...readFileSync(join(folder, file), 'utf8').matchAll(/^(?:import|export|\}).* from '([^']+)'/gm),
    ])
    .map(([, specifier = '']) => specifier)
    .filter((specifier) => !/^\.\/[\w-]+\.ts$/.test(specifier) || others.includes(specifier.slice(2)))
  expect([...new Set(imported)].sort()).toEqual(['@mcpx/protocol'])
})
