/** What a bundle holds of an HTTP endpoint. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { apps, filesOf, legacyIn } from './bundled-files.ts'

describe('a bundle', () => {
  it('of an app that is mounted in those of Hono holds nothing of Hono', async () => {
    const files = await filesOf(`import { mcp } from '@mcpx/transport-http'; export default mcp`)
    expect(legacyIn(files).length).toBeGreaterThan(5)
    expect(files.filter((path) => path.includes('node_modules/hono/'))).toEqual([])
  })

  it.each([
    ['index', true],
    ['edge', false],
    ['modern', false],
  ])("of what serves by HTTP, by its file %s.ts, holds what reads Node's own objects: %s", async (name, isThere) => {
    const files = await filesOf(
      `import { mcp } from '../../packages/transport-http/src/${name}.ts'; export default mcp`,
    )
    const nodes = files.filter((path) => /src\/server\/(?:on-node|incoming|outgoing)[\w-]*\.ts$/.test(path))
    expect(nodes.length > 3).toBe(isThere)
    expect(nodes.length > 0).toBe(isThere)
  })

  it('for the edge is made of what exports the same', async () => {
    const of = async (name: string) =>
      Object.keys(await import(`../../../packages/transport-http/src/${name}.ts`)).sort()
    expect(await of('edge')).toEqual(await of('index'))
  })

  it.each(['workerd', 'edge-light'])('for %s is made of what holds nothing for Node', (condition) => {
    const { exports } = JSON.parse(readFileSync(join(apps, '../../packages/transport-http/package.json'), 'utf8'))
    expect(exports['.'][condition]).toBe('./dist/edge.js')
  })
})
