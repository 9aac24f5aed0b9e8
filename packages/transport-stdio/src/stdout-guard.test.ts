import { expect, it } from 'vitest'
import { guardStdout } from './stdout-guard.ts'

it('gives standard output back as it was, and can take it again', () => {
  const { write, end } = process.stdout
  for (let round = 0; round < 2; round++) {
    const guard = guardStdout()
    expect(process.stdout.write).not.toBe(write)
    expect(() => guardStdout()).toThrow('taken already')
    guard.release()
    expect(process.stdout.write).toBe(write)
    expect(process.stdout.end).toBe(end)
  }
})
