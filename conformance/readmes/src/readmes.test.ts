import { describe, expect, it } from 'vitest'
import { compile, promisedBy, run, snippetsOf } from './snippets.ts'

/** The packages whose examples need other packages; those of the others run beside them. */
const packages = ['server', 'auth']

describe.each(packages)('the README of %s', (name) => {
  const snippets = snippetsOf(name)

  it('has examples, and only such that compile', async () => {
    expect(snippets.length).toBeGreaterThan(0)
    expect(await compile(snippets)).toBe('')
  }, 30_000)

  it.each(snippets.map((snippet, index) => [index + 1, snippet] as const))(
    'prints in example %i what it says it prints',
    async (_, snippet) => {
      expect(promisedBy(snippet)).not.toEqual([])
      expect(await run(snippet)).toEqual(promisedBy(snippet))
    },
    30_000,
  )
})
