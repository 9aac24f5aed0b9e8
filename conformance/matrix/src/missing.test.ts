import { describe, expect, it } from 'vitest'
import { gapOf } from './gaps.ts'
import { describeEnd, tryMissing } from './missing.ts'
import { withRig } from './rig.ts'

const missing = { reason: 'it never was', seen: /^TypeError: no$/ }

describe('what does not exist', () => {
  it('is missing as foreseen', async () => {
    await tryMissing(() => Promise.reject(new TypeError('no')), missing)
  })

  it('fails the run when it begins to work', async () => {
    await expect(tryMissing(() => Promise.resolve(), missing)).rejects.toThrow('It works: take its entry out')
  })

  it('fails the run when it fails in another way', async () => {
    await expect(tryMissing(() => Promise.reject(new Error('no')), missing)).rejects.toThrow('in another way')
    await expect(tryMissing(() => Promise.reject(new TypeError('now')), missing)).rejects.toThrow('TypeError: now')
  })

  it('is not taken for missing when it hangs elsewhere', async () => {
    const gap = gapOf('a cancelled call stops on both sides, and the connection goes on', 'HTTP without sessions')
    const hangs = withRig(
      '2025-11-25',
      'HTTP without sessions',
      ({ soon }) => soon('the call', new Promise(() => {})),
      5,
    )
    await expect(tryMissing(() => hangs, gap as NonNullable<typeof gap>)).rejects.toThrow('It has not come: the call')
  })

  it('is described by the name, the code or reason, and the message of its error', () => {
    expect(describeEnd(new TypeError('no'))).toBe('TypeError: no')
    expect(describeEnd(Object.assign(new Error('no'), { code: -32601 }))).toBe('Error -32601: no')
    expect(describeEnd(Object.assign(new Error('no'), { reason: 'closed' }))).toBe('Error closed: no')
  })
})
