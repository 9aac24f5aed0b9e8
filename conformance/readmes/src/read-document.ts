/** Compiles and runs the code of a document, and compares the output. */
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { blocksOf, consolesOf, expectedOutput, filesOf, programsOf, stepsOf } from './blocks.ts'
import { pathOf } from './documents.ts'
import { openWorkplace, type Workplace } from './workplace.ts'

const LIMIT = 40_000

/** Whether `redis-server` is installed. In CI it must be. */
const hasRedis =
  process.env.CI !== undefined || spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0

export function readDocument(document: string): void {
  const blocks = blocksOf(pathOf(document))
  const code = [...programsOf(blocks), ...filesOf(blocks)]
  describe(`the code of ${document}`, () => {
    let place: Workplace
    beforeAll(async () => {
      place = await openWorkplace(blocks)
    })
    afterAll(() => place.leave())

    if (code.length > 0) it('compiles', async () => expect(await place.compile()).toBe(''), LIMIT)

    it.each(programsOf(blocks).map((block) => [block.line, block] as const))(
      'prints the stated output, in line %i',
      async (_, block) => expect(await place.run(block)).toEqual(expectedOutput(block.text)),
      LIMIT,
    )

    const hasPrograms = hasRedis || !blocks.some(({ text }) => text.includes('$ redis-server'))
    it.skipIf(!hasPrograms).each(consolesOf(blocks).map((block) => [block.line, block] as const))(
      'runs the commands with the stated output, in line %i',
      async (_, block) => {
        for (const step of stepsOf(block)) await place.perform(step)
      },
      LIMIT,
    )

    it.each(blocks.filter(({ language }) => language === 'json').map((block) => [block.line, block] as const))(
      'contains valid JSON, in line %i',
      (_, { text }) => void JSON.parse(text),
    )

    it.each(blocks.filter(({ language }) => language === 'yaml').map((block) => [block.line, block] as const))(
      'contains valid YAML, in line %i',
      (_, { text }) => {
        for (const { errors, warnings } of parseAllDocuments(text)) expect([...errors, ...warnings]).toEqual([])
      },
    )

    it('states the output of each program', () => {
      expect(programsOf(blocks).filter(({ text }) => expectedOutput(text).length === 0)).toEqual([])
    })
  })
}
