import { expect, it } from 'vitest'
import { guardStdout, releaseStdout, takeStdout } from './stdout-guard.ts'

it('restores standard output, and can be used again', () => {
  const { write, end } = process.stdout
  for (let round = 0; round < 2; round++) {
    takeStdout(true)
    expect(process.stdout.write).not.toBe(write)
    expect(() => takeStdout(true)).toThrow('already in use')
    releaseStdout()
    expect(process.stdout.write).toBe(write)
    expect(process.stdout.end).toBe(end)
  }
})

it.each(['write', 'end'] as const)('names the place of the first write, by %s', (method) => {
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
  expect(said).toEqual([expect.stringContaining('It was first written at '), 'astray'])
  expect(said[0]?.split('\n')[0]).toContain('stdout-guard.test.ts')
})
