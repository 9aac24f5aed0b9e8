import { describe, expect, it } from 'vitest'
import { isExtensionId, isMetaKey, isReservedMetaKey } from './envelope.ts'
import { workOf } from './work.fixture.ts'

describe('a _meta name', () => {
  it.each([
    'progressToken',
    'a',
    'a.b-c_d',
    'com.example/a',
    'com.example/',
    'x/y',
    'com.ex-ample.a1/b.2',
    'io.modelcontextprotocol/serverInfo',
  ])('may be %j', (key) => {
    expect(isMetaKey(key)).toBe(true)
  })

  it.each([
    '',
    '/',
    '/a',
    'com..example/a',
    '1com.example/a',
    'com.example-/a',
    '-a/b',
    'com.example/-a',
    'com.example/a.',
    'com.example/a/b',
    'a b',
    'ä',
    'com.example/a\n',
  ])('may not be %j', (key) => {
    expect(isMetaKey(key)).toBe(false)
  })

  it('is checked in linear time', () => {
    const keys = ['a'.repeat(1e5), `${'a.'.repeat(5e4)}!`, `${'a-'.repeat(5e4)}/`]
    expect(workOf(() => keys.map(isMetaKey))).toBeLessThan(200)
  })

  it.each([
    ['io.modelcontextprotocol/a', true],
    ['dev.mcp/a', true],
    ['com.mcp.tools/a', true],
    ['org.modelcontextprotocol.api/', true],
    ['com.example.mcp/a', false],
    ['mcp.dev/a', false],
    ['modelcontextprotocol/a', false],
    ['com.mcpx/a', false],
    ['traceparent', false],
    ['io.mcp', false],
  ])('%j is reserved: %j', (key, isReserved) => {
    expect(isReservedMetaKey(key)).toBe(isReserved)
  })
})

describe('an extension id', () => {
  it('is a _meta name with a prefix and a name', () => {
    expect(isExtensionId('io.modelcontextprotocol/tasks')).toBe(true)
    for (const id of ['tasks', 'com.example/', 'io.modelcontextprotocol/auth/dpop', '']) {
      expect(isExtensionId(id)).toBe(false)
    }
  })
})
