import { describe, expect, it } from 'vitest'
import { citationsIn, readCitations } from './citations.ts'
import { isMust, isTestable, sections } from './requirements.ts'

const citations = readCitations()
const cited = new Set(citations.map(({ id }) => id))
const requirements = sections.flatMap((section) => section.requirements)

describe('the citations of requirements', () => {
  it('are found at the end of test titles', () => {
    // The ids are composed at run time, because this file must not cite requirements.
    const cite = (...ids: string[]) => `[${ids.join(', ')}]`
    const source = `it('does it ${cite('S-001', 'C-002')}', f)\nit.each([1])(\n  'does %d ${cite('S-003')}',\n  f,\n)\nf('no ${cite('S-004')}')`
    expect(citationsIn(source, 'a.test.ts')).toEqual([
      { id: 'S-001', path: 'a.test.ts', test: 'does it' },
      { id: 'C-002', path: 'a.test.ts', test: 'does it' },
      { id: 'S-003', path: 'a.test.ts', test: 'does %d' },
    ])
  })

  it('name existing requirements', () => {
    const known = new Set(requirements.map(({ id }) => id))
    expect(known.size).toBe(requirements.length)
    expect(citations.filter(({ id }) => !known.has(id))).toEqual([])
  })

  it.each(sections.filter(({ complete }) => complete))('exist for each must of $section $title', (section) => {
    const musts = section.requirements.filter((each) => isTestable(each) && isMust(each))
    expect(musts.filter(({ id }) => !cited.has(id)).map(({ id, text }) => `${id} ${text}`)).toEqual([])
  })

  it('are counted in incomplete sections', () => {
    const open = sections.filter(({ complete }) => !complete)
    for (const { section, title, requirements: some } of open) {
      const musts = some.filter((each) => isTestable(each) && isMust(each))
      const uncited = musts.filter(({ id }) => !cited.has(id)).map(({ id }) => id)
      if (musts.length > 0)
        console.log(`${section} ${title}: ${uncited.length} of ${musts.length} musts uncited`, uncited)
    }
    expect(open.length).toBeLessThan(sections.length)
  })
})
