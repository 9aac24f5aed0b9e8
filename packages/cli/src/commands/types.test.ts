import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { mcpx } from '../cli.fixture.ts'
import { nastyTools } from '../nasty-schemas.fixture.ts'
import { typesOfServer } from '../output/server-types.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const { resolve } = createRequire(import.meta.url)
const everything = [process.execPath, resolve('@modelcontextprotocol/server-everything/dist/index.js')]
const shop = fileURLToPath(new URL('../server.fixture.ts', import.meta.url))

// Inside of the repository, so that our packages are found.
const cache = join(root, 'packages/cli/.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'types-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Compiles the types together with a program that uses them. Returns the errors. */
function compile(name: string, types: string, program: string): string {
  writeFileSync(join(folder, `${name}.ts`), types)
  writeFileSync(
    join(folder, `${name}-use.ts`),
    `import { connect, type CallToolResult, type Connector } from '@mcpx/client'
import type { Server } from './${name}.ts'
declare const connector: Connector
const client = await connect<Server>(connector)
${program}
export {}\n`,
  )
  const compilerOptions = {
    composite: false,
    noEmit: true,
    declaration: false,
    declarationMap: false,
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: false,
    skipLibCheck: true,
    types: [],
  }
  const config = join(folder, `tsconfig.${name}.json`)
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, 'tsconfig.base.json'), compilerOptions, files: [`${name}-use.ts`] }),
  )
  const { stdout } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config], {
    encoding: 'utf8',
  })
  return stdout
}

describe('mcpx types', () => {
  it('types the calls of a server of others', async () => {
    const { code, stdout } = await mcpx(['types', '--', ...everything])
    expect(code).toBe(0)
    const program = `
const { structuredContent } = await client.callTool('get-structured-content', { location: 'Chicago' })
const temperature: number | undefined = structuredContent?.temperature
const result: CallToolResult = await client.callTool('get-sum', { a: 1, b: 2 })
await client.callTool('get-tiny-image')
await client.getPrompt('args-prompt', { city: 'Oslo' })
// @ts-expect-error: no such city
await client.callTool('get-structured-content', { location: 'Oslo' })
// @ts-expect-error: b is missing
await client.callTool('get-sum', { a: 1 })
// @ts-expect-error: a is a number
await client.tools['get-sum']({ a: '1', b: 2 })
// @ts-expect-error: city is missing
await client.getPrompt('args-prompt')
console.log(temperature, result)`
    expect(compile('everything', stdout, program)).toBe('')
  })

  it('types nasty schemas', () => {
    const types = typesOfServer('Server', 'nasty */ title', {
      tools: nastyTools,
      prompts: [{ name: 'a-b', arguments: [{ name: 'x y', required: true }] }],
    })
    const program = `
await client.tools.plain({ a: 1 })
await client.tools.empty()
await client.tools.closed({})
await client.tools['with-dash']()
await client.tools.with_dash()
await client.tools.tree({ root: { value: 1, children: [{ value: 2, children: [] }] } })
await client.tools.self({ next: { next: {} } })
await client.tools['own-alternative']({ a: 'x', record: { a: { b: {} } }, list: [[], [[]]] })
await client.tools.literals({ one: 'it\\'s "one"', some: { deep: [1, { x: 'y' }] }, any: 5, both: null })
await client.tools.combined({ all: { a: 'x', b: 1 } })
await client.tools.tuples({ pair: ['a', 1], more: ['a', 1, 2], old: ['a', {}, true] })
await client.tools.open({ a: 'x', other: 5, map: { n: 1 }, pattern: { x1: 'y' } })
await client.tools.doubling({ a: 1 })
await client.getPrompt('a-b', { 'x y': 'z' })
// @ts-expect-error: the first tool of a name counts
await client.tools.plain({ a: true })
// @ts-expect-error: value is missing
await client.tools.tree({ root: { children: [] } })
// @ts-expect-error: not one of the literals
await client.tools.literals({ both: 'b' })
// @ts-expect-error: the pair is too long
await client.tools.tuples({ pair: ['a', 1, 2] })
// @ts-expect-error: no property is accepted
await client.tools.closed({ a: 1 })
// @ts-expect-error: neither alternative
await client.tools.combined({ unions: ['a'] })`
    expect(compile('nasty', types, program)).toBe('')
    expect(types).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
    expect(types.length).toBeLessThan(500_000)
  })

  it('returns the same text for the same tools in any order', () => {
    const lists = [nastyTools.slice(0, -1), nastyTools.slice(0, -1).toReversed()]
    const [one, other] = lists.map((tools) => typesOfServer('Server', 's', { tools, prompts: [] }))
    expect(one).toBe(other)
  })

  it('keeps descriptions, and names the interface as asked', async () => {
    const { stdout } = await mcpx(['types', shop, '--name', 'Shop'])
    expect(stdout).toContain('export interface Shop {')
    expect(stdout).toContain(`export type SearchInput = {
  /** words to look for */
  q: string
  limit?: number
  tags?: string[]
  exact?: boolean
  price?: {
    min?: number
    max?: number
  }
}`)
    expect(await mcpx(['types', shop, '--name', 'a b'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--name'),
    })
  })
})
