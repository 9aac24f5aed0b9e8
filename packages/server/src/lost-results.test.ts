import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createServer, ResultError } from './index.ts'
import { closeAll, connect } from './peers.fixture.ts'

afterEach(closeAll)

/** Calls a tool that returns a value. Returns the error that its author sees, or the text that the client sees. */
async function returning(value: unknown, output?: z.ZodType): Promise<unknown> {
  let fault: unknown
  const server = createServer(
    { name: 's', version: '1' },
    {
      onError: (error) => {
        fault = error
      },
    },
  )
  server.tool('it', { output: output as never }, () => value as never)
  const peer = await connect(server, '2026-07-28')
  const { content } = await peer.call('tools/call', { name: 'it' })
  return fault ?? content[0]?.text
}

class Point {
  x = 1
}
class Secretive {
  readonly #x = 1
  get x() {
    return this.#x
  }
}
class Money extends Secretive {
  toJSON() {
    return { amount: 1 }
  }
}
function* generate() {
  yield 1
}
async function* generateLater() {
  yield 1
}

const lost: readonly (readonly [string, unknown, string])[] = [
  ['a Map', new Map([['a', 1]]), 'a Map would be sent empty; return Object.fromEntries(map)'],
  ['a Set', new Set([1]), 'a Set would be sent empty; return an array: [...set]'],
  ['an Error', new Error('secret'), 'an Error would be sent without its message; throw it, or return error.message'],
  ['an Error with members', Object.assign(new Error('secret'), { code: 'E' }), 'an Error would be sent without'],
  ['a promise', Promise.resolve(1), 'a Promise would be sent empty; write `await` before it'],
  ['a Response', new Response('x'), 'a Response would be sent empty; return `await response.json()`'],
  ['Headers', new Headers({ a: 'b' }), 'a Headers would be sent empty; return Object.fromEntries(headers)'],
  ['a generator', generate(), 'an iterator or generator would be sent empty; collect its values, and report progress'],
  ['an async generator', generateLater(), 'an iterator or generator would be sent empty'],
  ['an iterator', [1].values(), 'an iterator or generator would be sent empty'],
  [
    'an instance with private members',
    new Secretive(),
    'a Secretive would be sent empty; return a plain object, or give',
  ],
  ['bytes', new Uint8Array([1]), 'bytes cannot be written as JSON; return them with image(), audio() or resource()'],
  ['a bigint', 10n, 'a bigint cannot be written as JSON; return a string or a number'],
]

describe('a value that JSON would lose', () => {
  it.each(lost)('is refused with its place: %s', async (_, value, message) => {
    // A promise as the whole result is awaited.
    if (!(value instanceof Promise)) {
      const error = await returning(value)
      expect(error).toBeInstanceOf(ResultError)
      expect(String(error)).toContain(`Tool "it", result: ${message}`)
    }
    expect(String(await returning({ list: [{ a: value }] }))).toContain(`Tool "it", result.list[0].a: ${message}`)
    expect(String(await returning({ content: [], structuredContent: { a: value } }))).toContain(
      `Tool "it", structuredContent.a: ${message}`,
    )
    expect(String(await returning({ a: value }, z.object({ a: z.unknown() })))).toContain(
      `Tool "it", result.a: ${message}`,
    )
  })

  it.each([
    ['a plain object', { a: { b: [1, null] }, c: undefined }, '{"a":{"b":[1,null]}}'],
    ['an empty object', {}, '{}'],
    ['an object without a prototype', Object.create(null), '{}'],
    ['an instance with members', new Point(), '{"x":1}'],
    ['an instance with toJSON', new Money(), '{"amount":1}'],
    ['a date and a URL', [new Date(0), new URL('a:b')], '["1970-01-01T00:00:00.000Z","a:b"]'],
    ['a Buffer', Buffer.from('a'), '{"type":"Buffer","data":[97]}'],
    ['a value that occurs twice', [lost, lost].map(() => ({ a: 1 })), '[{"a":1},{"a":1}]'],
  ])('is not %s', async (_, value, json) => {
    expect(await returning(value)).toBe(json)
  })

  it('is refused in resources', async () => {
    let fault: unknown
    const server = createServer(
      { name: 's', version: '1' },
      {
        onError: (error) => {
          fault = error
        },
      },
    )
    const peer = await connect(
      server.resource('a:b', {}, () => ({ tags: new Set() }) as never),
      '2026-07-28',
    )
    await peer.call('resources/read', { uri: 'a:b' }).catch(() => {})
    expect(String(fault)).toContain('contents of "a:b".tags: a Set would be sent empty')
  })

  it('is a cycle, which ends the search', async () => {
    const cycle: Record<string, unknown> = {}
    Object.assign(cycle, { one: cycle, other: cycle })
    expect(String(await returning(cycle))).toContain('circular')
  })
})

describe('a whole result with invalid content', () => {
  it.each([
    [{ content: 'x' }, 'result.content: expected an array of content blocks, got string; return a string, or content'],
    [{ content: undefined, isError: true }, 'result.content: expected an array of content blocks, got nothing'],
    [
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'txt', text: 'b' },
        ],
      },
      'result.content[1]: type: expected one of text, image, audio, resource_link, resource, got "txt"',
    ],
    [
      { content: ['x', { type: 'text', text: 'y' }] },
      'result.content[0]: expected a content block, got string; write text("…") for a string',
    ],
    [{ content: [{ type: 'text', text: 5 }] }, 'result.content[0]: text: expected string, got number'],
    [{ content: [{ type: 'image', data: '' }] }, 'result.content[0]: mimeType: expected string, got nothing'],
    [{ content: [{ type: 'resource' }] }, 'result.content[0]: resource: expected object, got nothing'],
    [{ content: [{ type: 'resource', resource: 'a' }] }, 'result.content[0]: resource: expected object, got string'],
    [
      { content: [{ type: 5 }] },
      'result.content[0]: type: expected one of text, image, audio, resource_link, resource, got number',
    ],
  ])('is refused with its place: %j', async (value, message) => {
    const error = await returning(value)
    expect(error).toBeInstanceOf(ResultError)
    expect(String(error)).toContain(`Tool "it", ${message}`)
  })

  it('is a value if it has other members, or a list without blocks', async () => {
    expect(await returning({ content: ['x'] })).toBe('{"content":["x"]}')
    expect(await returning({ content: 'x', path: 'a' })).toBe('{"content":"x","path":"a"}')
    expect(await returning({ content: 'x' }, z.object({ content: z.string() }))).toBe('{"content":"x"}')
  })
})
