/** Does what a document tells its reader to do, and holds it to its words. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocksOf, consolesOf, filesOf, programsOf, promisedBy, stepsOf } from './blocks.ts'
import { pathOf } from './documents.ts'
import { openWorkplace, type Workplace } from './workplace.ts'

const LIMIT = 40_000

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
      'prints what it says it prints, in line %i',
      async (_, block) => expect(await place.run(block)).toEqual(promisedBy(block.text)),
      LIMIT,
    )

    it.each(consolesOf(blocks).map((block) => [block.line, block] as const))(
      'does what is shown, in line %i',
      async (_, block) => {
        for (const step of stepsOf(block)) await place.perform(step)
      },
      LIMIT,
    )

    it.each(blocks.filter(({ language }) => language === 'json').map((block) => [block.line, block] as const))(
      'shows JSON, in line %i',
      (_, { text }) => void JSON.parse(text),
    )

    it('says of each program what it prints', () => {
      expect(programsOf(blocks).filter(({ text }) => promisedBy(text).length === 0)).toEqual([])
    })
  })
}
