import { describe, expect, it } from 'vitest'
import { differingMember, parseSkillFile } from './frontmatter.ts'

const read = (yaml: string) => parseSkillFile(`---\n${yaml}\n---\nbody`)

describe('parseSkillFile', () => {
  it.each([
    ['---\nname: a\n---\n', ''],
    ['---\r\nname: a\r\n---\r\nbody\r\n', 'body\r\n'],
    ['\uFEFF---\nname: a\n---\n\n# Title\n', '\n# Title\n'],
    ['---  \nname: a\n---\t\nbody\n---\nmore', 'body\n---\nmore'],
    ['---\nname: a\n---', ''],
  ])('splits %j', (text, body) => {
    expect(parseSkillFile(text)).toEqual({ frontmatter: { name: 'a' }, body })
  })

  it('reads YAML 1.2 of the core schema, without dates', () => {
    const yaml =
      'a: yes\nb: 2024-01-01\nc: 0x1f\nd: 1.50\ne: ~\nf: [1, {g: "h"}]\n1: one\nnull: none\n<<: {x: 1}\ni: |\n  j\n'
    expect(read(yaml).frontmatter).toEqual({
      a: 'yes',
      b: '2024-01-01',
      c: 31,
      d: 1.5,
      e: null,
      f: [1, { g: 'h' }],
      1: 'one',
      null: 'none',
      '<<': { x: 1 },
      i: 'j\n',
    })
  })

  it('replaces aliases by their values', () => {
    expect(read('a: &x {b: 1}\nc: *x').frontmatter).toEqual({ a: { b: 1 }, c: { b: 1 } })
  })

  const bomb = Array.from({ length: 9 }, (_, n) => `a${n}: &a${n} [${Array(9).fill(n === 0 ? 1 : `*a${n - 1}`)}]`)

  it.each<[string, string, RegExp]>([
    ['no members', 'just text', /^frontmatter: expected members such as `name: my-skill`$/],
    ['nothing', '', /expected members/],
    ['a duplicate key', 'a: 1\nb: {c: 1, c: 2}', /^frontmatter: expected each name once, got "c" twice$/],
    [
      'a key named __proto__',
      'a: {__proto__: {admin: true}}',
      /^frontmatter\.a: the name __proto__ is not allowed; remove it$/,
    ],
    ['a key that is not a string', '? [a, b]\n: c', /^frontmatter: /],
    [
      'a number that JSON does not have',
      'a: [.inf]',
      /^frontmatter\.a\[0\]: expected a number of JSON, got Infinity; write it in quotes$/,
    ],
    ['two documents', 'a: 1\n...\nb: 2', /^frontmatter: Source contains multiple documents/],
    ['an alias without an anchor', 'a: *x', /^frontmatter: Unresolved alias/],
    ['an alias of itself', 'a: &x [*x]', /expected at most 32 levels, got more$/],
    ['aliases that multiply', bomb.join('\n'), /^frontmatter: Excessive alias count/],
    [
      'aliases of a long string',
      `a: &x "${'y'.repeat(20_000)}"\nb: [${Array(90).fill('*x')}]`,
      /expected at most 10000 values, got more$/,
    ],
    ['many values', `a: [${Array(10_001).fill(1)}]`, /expected at most 10000 values, got more$/],
    ['deep nesting', `a: ${'['.repeat(40)}${']'.repeat(40)}`, /expected at most 32 levels, got more$/],
    ['very deep nesting', `a: ${'['.repeat(30_000)}`, /^frontmatter: /],
    ['very deep block sequences', '- '.repeat(15_000), /^frontmatter: /],
  ])('refuses %s', (_, yaml, problem) => {
    expect(read(yaml)).toEqual({ problem: expect.stringMatching(problem) })
  })

  it('refuses a frontmatter of more than 32 Ki characters in little time', () => {
    const start = performance.now()
    const { problem } = parseSkillFile(`---\n${'a: b\n'.repeat(20_000_000)}`)
    expect(problem).toBe('the frontmatter has no line `---` at its end within 32768 characters')
    expect(performance.now() - start).toBeLessThan(1_000)
  })

  it('does not change the prototype of objects', () => {
    expect(read('constructor: 1\ntoString: 2').frontmatter).toEqual({ constructor: 1, toString: 2 })
    expect(read('"__proto__": 1').problem).toMatch(/__proto__ is not allowed/)
    expect(({} as { admin?: unknown }).admin).toBeUndefined()
  })
})

describe('differingMember', () => {
  const some = { name: 'a', tags: ['x', { y: 1 }], license: null }

  it('finds no difference in equal content', () => {
    expect(differingMember(some, { tags: ['x', { y: 1 }], name: 'a' })).toBeUndefined()
    expect(differingMember({ a: { b: null } }, { a: {} })).toBeUndefined()
  })

  it.each([
    [{ ...some, name: 'b' }, 'name'],
    [{ ...some, tags: ['x'] }, 'tags'],
    [{ ...some, tags: { 0: 'x', 1: { y: 1 } } }, 'tags'],
    [{ ...some, tags: ['x', { y: '1' }] }, 'tags'],
    [{ ...some, license: 'MIT' }, 'license'],
    [{ ...some, toString: 'x' }, 'toString'],
    [{ ...some, name: ['a'] }, 'name'],
  ])('finds the member of %j', (other, name) => {
    expect(differingMember(some, other)).toBe(name)
    expect(differingMember(other, some)).toBe(name)
  })
})
