/** What a bundle holds of a server that serves the modern era alone, or runs where Node never is. */
import { describe, expect, it } from 'vitest'
import { filesOf, legacyIn } from './bundled-files.ts'

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

  it('of a server of @mcpx/server holds both eras', async () => {
    const legacy = legacyIn(await filesOf(program('@mcpx/server')))
    expect(legacy.some((path) => path.includes('packages/server/'))).toBe(true)
    expect(legacy.some((path) => path.includes('packages/protocol/'))).toBe(true)
  })
})
