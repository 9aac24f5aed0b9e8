import { describe, expect, it } from 'vitest'
import { isCompiled } from './built.ts'
import { measureSize, ownerOf } from './measure-size.ts'
import { median, withRange } from './statistics.ts'

describe('a size', () => {
  it('belongs to the package a file was installed with, however deep', () => {
    expect(ownerOf('../../node_modules/.pnpm/zod@4.6.7/node_modules/zod/v4/core/core.js')).toBe('zod')
    expect(ownerOf('../../node_modules/.pnpm/@a+b@1.0.0/node_modules/@a/b/index.js')).toBe('@a/b')
    expect(ownerOf('../../packages/protocol/dist/index.js')).toBe('@mcpx/protocol')
    expect(ownerOf('program.ts')).toBe('the program')
  })

  it('is that of a program that does what it says, without what it does not use', async () => {
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

  it('is not taken of a program that breaks when it is loaded', async () => {
    const entries = [{ name: 'broken', code: 'throw new Error("no")' }]
    await expect(measureSize({ kind: 'size', name: 'size', says: 'it', entries })).rejects.toThrow('broken')
  })

  it('is not taken of sources', () => {
    expect(isCompiled('../../packages/sse/src/encode.ts')).toBe(false)
    expect(isCompiled('../../packages/sse/dist/encode.js')).toBe(true)
    expect(isCompiled('../../node_modules/.pnpm/x@1.0.0/node_modules/x/src/index.js')).toBe(true)
  })
})

describe('numbers', () => {
  it('have a middle and a range', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, 2, 3])).toBe(2.5)
    expect(withRange([3, 1, 2], 1)).toBe('2.0 [1.0–3.0]')
  })
})
