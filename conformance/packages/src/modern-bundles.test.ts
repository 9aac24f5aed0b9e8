/** What a bundle holds of a server that serves the modern era alone, or runs where Node never is. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { apps, filesOf, legacyIn } from './bundled-files.ts'

/** A server that uses what servers have, by what it imports. */
const program = (server: string): string => `
  import { createServer } from '${server}'
  import { approve, elicit, rateLimit, ToolError, text, timeout } from '@mcpx/server'
  const inner = createServer({ name: 'inner', version: '1' }).prompt('p', {}, () => 'words')
  export const server = createServer({ name: 'outer', version: '1' })
    .use(approve()).use(rateLimit({ calls: 1, perMs: 1 })).use(timeout({ ms: 1 }))
    .tool('t', { input: { type: 'object' } }, (args, ctx) => ctx.ask({ a: elicit(args) }).catch(() => { throw new ToolError('no') }))
    .resource('note://{id}', {}, () => [text('it')])
    .mount('inner', inner)`

describe('a bundle', () => {
  it('of a server of @mcpx/server/modern holds no file of the legacy era', async () => {
    const files = await filesOf(program('@mcpx/server/modern'))
    expect(files.filter((path) => path.includes('/eras/modern')).length).toBeGreaterThan(8)
    expect(legacyIn(files)).toEqual([])
  })

  it('of what serves it by HTTP holds no file of the legacy era', async () => {
    const serving = `import { mcp } from '@mcpx/transport-http/modern'; export default mcp(server)`
    const files = await filesOf(`${program('@mcpx/server/modern')}; ${serving}`)
    expect(files.some((path) => path.includes('transport-http/src/server/eras/modern'))).toBe(true)
    expect(legacyIn(files)).toEqual([])
  })

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

  it('of a server of @mcpx/server holds both eras', async () => {
    const legacy = legacyIn(await filesOf(program('@mcpx/server')))
    expect(legacy.some((path) => path.includes('packages/server/'))).toBe(true)
    expect(legacy.some((path) => path.includes('packages/protocol/'))).toBe(true)
  })
})
