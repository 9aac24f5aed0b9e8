import { expect, it } from 'vitest'
import { guardStdout, releaseStdout, takeStdout } from './stdout-guard.ts'

it('gives standard output back as it was, and can take it again', () => {
  const { write, end } = process.stdout
  for (let round = 0; round < 2; round++) {
    takeStdout(true)
    expect(process.stdout.write).not.toBe(write)
    expect(() => takeStdout(true)).toThrow('taken already')
    releaseStdout()
    expect(process.stdout.write).toBe(write)
    expect(process.stdout.end).toBe(end)
  }
})

it.each(['write', 'end'] as const)('says where standard output was written to first, by %s', (method) => {
  const said: string[] = []
  const { write } = process.stderr
  process.stderr.write = ((text: string) => said.push(text) > 0) as typeof write
  guardStdout()
  try {
    process.stdout[method]('astray')
  } finally {
    releaseStdout()
    process.stderr.write = write
  }
  expect(said).toEqual([expect.stringContaining('First at '), 'astray'])
  expect(said[0]?.split('\n')[0]).toContain('stdout-guard.test.ts')
})
