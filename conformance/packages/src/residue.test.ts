import { expect, it } from 'vitest'
import { residueFaults } from './residue.ts'

/** The faults of a package that has these files in `dist`. */
function faultsOf(dist: Readonly<Record<string, string>>): Promise<string[]> {
  const entries = Object.entries(dist).map(([name, text]) => [`dist/${name}`, Buffer.from(text)] as const)
  return residueFaults({ files: new Map(entries) })
}

it('is nothing of a package whose code can all go', async () => {
  const index = `import { a } from "other"; import { c } from "./chunks/c.js"; const b = /* @__PURE__ */ a(c); export { b };
    export const later = () => import("./chunks/c.js");`
  expect(await faultsOf({ 'index.js': index, 'chunks/c.js': 'export const c = [1];' })).toEqual([])
})

it('is what bundlers cannot see to be without effect, in each file that brings it along', async () => {
  const faults = await faultsOf({
    'index.js': 'import { c } from "./chunks/c.js"; export const b = c;',
    'chunks/c.js': 'import { a } from "other"; export const c = [a.one];',
  })
  expect(faults).toEqual([
    expect.stringMatching(/^dist\/index\.js leaves in each bundle: .*\.one/),
    expect.stringMatching(/^dist\/chunks\/c\.js leaves in each bundle: .*\.one/),
  ])
})
