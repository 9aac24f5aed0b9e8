import { describe, expect, it } from 'vitest'
import { unknownOption } from './options.ts'

describe('an option that does not exist', () => {
  const names = ['title', 'description', 'input', 'output', 'timeout']

  it.each([
    ['desription', 'description'],
    ['Description', 'description'],
    ['descriptoin', 'description'],
    ['timeuot', 'timeout'],
    ['timeoutMs', 'timeout'],
    ['inputs', 'input'],
    ['titel', 'title'],
  ])('is refused with the name that was meant: %s', (name, meant) => {
    expect(unknownOption('Tool "x"', { title: 'x', [name]: 1 }, names)).toBe(
      `Tool "x": there is no option "${name}"; did you mean "${meant}"?`,
    )
  })

  it.each(['x', 'handler', 'toString', '__proto', 'x'.repeat(10_000)])(
    'is refused with all names if none is similar: %.20s',
    (name) => {
      const problem = unknownOption('connect', { [name]: 1 }, names)
      expect(problem).toContain('; expected one of title, description, input, output, timeout')
      expect(problem).not.toContain('did you mean')
    },
  )

  it('is refused with our name if another library uses this one', () => {
    const problem = unknownOption('x', { parameters: {} }, names, { parameters: 'input', other: 'none' })
    expect(problem).toBe('x: there is no option "parameters"; did you mean "input"?')
    expect(unknownOption('x', { other: {} }, names, { other: 'none' })).toContain('expected one of')
  })

  it('is not reported if all options exist, whatever their values', () => {
    expect(unknownOption('x', {}, names)).toBeUndefined()
    expect(unknownOption('x', { title: undefined, input: null }, names)).toBeUndefined()
  })

  it.each([
    [null, 'null'],
    [undefined, 'nothing'],
    ['x', 'string'],
    [[], 'array'],
  ])('cannot be looked for in %j', (options, kind) => {
    expect(unknownOption('x', options, names)).toBe(`x: expected an object of options, got ${kind}`)
  })
})
