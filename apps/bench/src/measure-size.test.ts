import { describe, expect, it } from 'vitest'
import { isCompiled } from './built.ts'
import { measureSize, ownerOf } from './measure-size.ts'
import { median, withRange } from './statistics.ts'

describe('a size', () => {
  it('belongs to the innermost package of a file', () => {
    expect(ownerOf('../../node_modules/.pnpm/zod@4.6.7/node_modules/zod/v4/core/core.js')).toBe('zod')
    expect(ownerOf('../../node_modules/.pnpm/@a+b@1.0.0/node_modules/@a/b/index.js')).toBe('@a/b')
    expect(ownerOf('../../packages/protocol/dist/index.js')).toBe('@mcpx/protocol')
    expect(ownerOf('program.ts')).toBe('the program')
  })

  it('is that of a working program without unused code', async () => {
    const code = 'const unused = "a word that is not there"; export const used = "a word that is there"'
    const findings = await measureSize({
      kind: 'size',
      name: 'size',
      says: 'it',
      entries: [{ name: 'words', code, atMost: 10 }],
    })
    expect(findings.data).toMatchObject({
      words: { minified: 'var e="a word that is there";export{e as used};\n'.length },
    })
    expect(findings.verdicts).toMatchObject([{ name: 'size words', met: false }])
  })

  it('is not measured for a program that fails to load', async () => {
    const entries = [{ name: 'broken', code: 'throw new Error("no")' }]
    await expect(measureSize({ kind: 'size', name: 'size', says: 'it', entries })).rejects.toThrow('broken')
  })

  it('is not measured for sources', () => {
    expect(isCompiled('../../packages/sse/src/encode.ts')).toBe(false)
    expect(isCompiled('../../packages/sse/dist/encode.js')).toBe(true)
    expect(isCompiled('../../node_modules/.pnpm/x@1.0.0/node_modules/x/src/index.js')).toBe(true)
  })
})

describe('numbers', () => {
  it('have a median and a range', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, 2, 3])).toBe(2.5)
    expect(withRange([3, 1, 2], 1)).toBe('2.0 [1.0–3.0]')
  })
})
