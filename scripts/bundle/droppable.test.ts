import { describe, expect, it } from 'vitest'
import { droppable } from './droppable.ts'

describe('the constants of a file', () => {
  it.each([
    "const a = 'text'",
    'const a = -1, b = /x/, c = [1, , "2"], d = { e: [c], f }',
    'const a = () => make()',
    'const a = class extends Error { name = make() }',
    'const a = /* @__PURE__ */ make(() => 1, { b: 2 })',
    'export const a = /*#__PURE__*/ new Set(["b"])',
    'make()',
    'function a() { const b = 2 ** 3 }',
  ])('stay as they are where bundlers see that they can go: %s', (code) => {
    expect(droppable(code)).toBe(code)
  })

  it.each([
    ['new TextEncoder()', '/* @__PURE__ */ new TextEncoder()'],
    ['make({ b: 1 })', '/* @__PURE__ */ make({ b: 1 })'],
    ['2 ** 24', '/* @__PURE__ */ (() => (2 ** 24))()'],
    ['{ ...b, c: 1 }', '/* @__PURE__ */ (() => ({ ...b, c: 1 }))()'],
    ['{ [b]: 1 }', '/* @__PURE__ */ (() => ({ [b]: 1 }))()'],
    ['[b.c]', '/* @__PURE__ */ (() => ([b.c]))()'],
    ['`${b}`', '/* @__PURE__ */ (() => (`${b}`))()'],
    ['make(b.c)', '/* @__PURE__ */ (() => (make(b.c)))()'],
    ['/* @__PURE__ */ new Set([b.c])', '/* @__PURE__ */ (() => (new Set([b.c])))()'],
    ['class { static b = make() }', '/* @__PURE__ */ (() => (class { static b = make() }))()'],
    ['class { static { make() } }', '/* @__PURE__ */ (() => (class { static { make() } }))()'],
    ['class extends make() {}', '/* @__PURE__ */ (() => (class extends make() {}))()'],
  ])('are marked where they do not: %s', (value, marked) => {
    expect(droppable(`const a = ${value}\nexport { a }\n`)).toBe(`const a = ${marked}\nexport { a }\n`)
  })

  it('are all found, whatever comes before them', () => {
    const code = "const a = 2 ** 3, b = '…', c = make()\nlet d\nexport var e = [...b]\n"
    const marked =
      "const a = /* @__PURE__ */ (() => (2 ** 3))(), b = '…', c = /* @__PURE__ */ make()\n" +
      'let d\nexport var e = /* @__PURE__ */ (() => ([...b]))()\n'
    expect(droppable(code)).toBe(marked)
  })
})
