import { describe, expect, it } from 'vitest'
import { toCommand, toTypeScript } from './snippets.ts'
import { expandTemplate, variablesOf } from './uri-template.ts'

const url = { kind: 'url', url: 'https://example.com/mcp' } as const

describe('toCommand', () => {
  it('writes strings as they are, and other values as JSON', () => {
    const args = { q: "it's red", limit: 3, tags: ['a'], zip: '0123', flag: 'true' }
    expect(toCommand(url, 'search', args)).toBe(
      `mcpx call https://example.com/mcp search 'q=it'\\''s red' limit:=3 'tags:=["a"]' zip=0123 'flag:="true"'`,
    )
  })

  it('passes names that mcpx call would read otherwise by --args', () => {
    expect(toCommand(url, 'search', { 'a.b': 1 })).toBe(`mcpx call https://example.com/mcp search --args '{"a.b":1}'`)
  })

  it('puts the command of a server after --', () => {
    const source = { kind: 'command', command: 'npx', args: ['-y', 'some server'] } as const
    expect(toCommand(source, 'echo; rm', { a: 'b' })).toBe("mcpx call 'echo; rm' a=b -- npx -y 'some server'")
  })
})

it('writes a program', () => {
  expect(toTypeScript(url, 'search', { q: 'a"b' })).toBe(`import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'

const client = await connect(http("https://example.com/mcp"))
const result = await client.callTool("search", {
  "q": "a\\"b"
})
console.log(result.structuredContent ?? result.content)
await client.close()
`)
  expect(toTypeScript({ kind: 'file', word: 'shop.ts' }, 'buy', {})).toContain(
    'spawn(\'npx\', ["mcpx","run","shop.ts","--stdio"])',
  )
})

it.each([
  ['shop://item/{id}', { id: 'a b/c' }, 'shop://item/a%20b%2Fc'],
  ['file:///{+path}', { path: 'a/b c' }, 'file:///a/b%20c'],
  ['x://s{?q,lang}{&page:2}', { q: 'a&b', lang: '', page: '' }, 'x://s?q=a%26b'],
  ['x:{/a,b}{;c}{.d}{#e*}', { a: '1', b: '2', c: '3', d: '4', e: '5' }, 'x:/1/2;c=3.4#5'],
  ['x://{broken', {}, 'x://{broken'],
])('expands %s', (template, values: Record<string, string>, uri) => {
  expect(expandTemplate(template, values)).toBe(uri)
  expect(variablesOf(template)).toEqual(Object.keys(values))
})
