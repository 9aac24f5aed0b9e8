import { describe, expect, it } from 'vitest'
import { gapOf } from './gaps.ts'
import { withRig } from './rig.ts'
import { describeError, expectUnsupported } from './unsupported.ts'

const unsupported = { reason: 'never supported', failure: /^TypeError: no$/ }

describe('an unsupported behaviour', () => {
  it('passes with the expected failure', async () => {
    await expectUnsupported(() => Promise.reject(new TypeError('no')), unsupported)
  })

  it('fails when it works', async () => {
    await expect(expectUnsupported(() => Promise.resolve(), unsupported)).rejects.toThrow('It works: remove its entry')
  })

  it('fails when its failure differs', async () => {
    await expect(expectUnsupported(() => Promise.reject(new Error('no')), unsupported)).rejects.toThrow(
      'differs from the expected failure',
    )
    await expect(expectUnsupported(() => Promise.reject(new TypeError('now')), unsupported)).rejects.toThrow(
      'TypeError: now',
    )
  })

  it('fails when it times out at another place', async () => {
    const gap = gapOf('a cancelled call stops on both sides, and the connection stays usable', 'HTTP without sessions')
    const hangs = withRig(
      '2025-11-25',
      'HTTP without sessions',
      ({ waitFor }) => waitFor('the call', new Promise(() => {})),
      5,
    )
    await expect(expectUnsupported(() => hangs, gap as NonNullable<typeof gap>)).rejects.toThrow(
      'Timed out waiting for the call',
    )
  })

  it('is described by the name, the code or reason, and the message of its error', () => {
    expect(describeError(new TypeError('no'))).toBe('TypeError: no')
    expect(describeError(Object.assign(new Error('no'), { code: -32601 }))).toBe('Error -32601: no')
    expect(describeError(Object.assign(new Error('no'), { reason: 'closed' }))).toBe('Error closed: no')
  })
})
