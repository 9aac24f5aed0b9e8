/** What a bundle holds of a server that offers nothing but tools. */
import { describe, expect, it } from 'vitest'
import { filesOf, legacyIn } from './bundled-files.ts'

/** A server that uses what servers of tools have, as it is served over HTTP. */
const program = (server: string, carrier: string, more = '', validator = 'undefined'): string => `
  import { createServer } from '${server}'
  import { audit, rateLimit, ToolError, text, timeout } from '@mcpx/server'
  import { mcp } from '${carrier}'
  ${more}
  const server = createServer({ name: 'outer', version: '1' }, { validator: ${validator} })
    .use(audit(() => {})).use(rateLimit({ limit: 1, windowMs: 1 })).use(timeout(1))
    .tool('t', {}, (_args, ctx) => ctx.progress(1).then(() => { throw new ToolError(text('no').text) }))
  export default mcp(server)`

/** Files of what servers of all kinds have besides, by what they are for. */
const others: Readonly<Record<string, RegExp>> = {
  'resources and their templates': /server\/src\/features\/resource|protocol\/src\/uri-template|schema\/resources/,
  'prompts and completion': /server\/src\/features\/(?:prompt|complet)|schema\/(?:prompts|completion)/,
  mounting: /server\/src\/(?:parts|schema-search|compose\/(?!tool-lookup))/,
  'asking the client': /server\/src\/(?:ask(?!s-nothing)|form|questions|request-state)|eras\/(?:modern|legacy)-input/,
  'what is asked, and answered': /protocol\/src\/schema\/(?:sampling|form|roots)/,
  'plain JSON Schemas': /features\/(?:raw-schema|schema-faults)|protocol\/src\/json-schema/,
}

const entries = [
  ['@mcpx/server/tools', '@mcpx/transport-http'],
  ['@mcpx/server/tools/modern', '@mcpx/transport-http'],
] as const

describe.each(entries)('a bundle of a server of %s', (server, carrier) => {
  it.each(Object.entries(others))('holds nothing for %s', async (_, files) => {
    const all = await filesOf(program(server, carrier))
    expect(all.some((path) => path.includes('server/src/features/tools.ts'))).toBe(true)
    expect(all.filter((path) => files.test(path))).toEqual([])
  })

  it('holds the validator where it is passed, and nothing else for it', async () => {
    const imported = `import { createJsonSchemaValidator } from '@mcpx/protocol/json-schema'`
    const all = await filesOf(program(server, carrier, imported, 'createJsonSchemaValidator()'))
    expect(all.filter((path) => path.includes('protocol/src/json-schema')).length).toBeGreaterThan(10)
    expect(all.filter((path) => /raw-schema|schema-faults/.test(path))).toEqual([])
  })

  it('holds the legacy era only where it is served', async () => {
    const legacy = legacyIn(await filesOf(program(server, carrier)))
    expect(legacy.length > 5).toBe(!server.endsWith('/modern'))
    expect(legacy.length > 0).toBe(!server.endsWith('/modern'))
  })
})

describe('a bundle of a server of @mcpx/server', () => {
  it.each(Object.entries(others))('holds what is for %s', async (_, files) => {
    const all = await filesOf(program('@mcpx/server', '@mcpx/transport-http'))
    expect(all.filter((path) => files.test(path)).length).toBeGreaterThan(0)
  })
})
