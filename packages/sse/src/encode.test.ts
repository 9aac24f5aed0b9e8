import { describe, expect, it } from 'vitest'
import { encodeComment, encodeEvent, encodeEventBytes, type SseEventInit } from './encode.ts'
import { SseError, type SseErrorReason } from './sse-error.ts'

describe('encodeEvent', () => {
  const cases: [what: string, init: SseEventInit, text: string][] = [
    ['one line of data', { data: '{"a":1}' }, 'data: {"a":1}\n\n'],
    ['empty data as an empty data line', { data: '' }, 'data:\n\n'],
    ['an event that only primes the client with an id', { id: 'X', data: '' }, 'id: X\ndata:\n\n'],
    ['all fields, data last', { data: 'd', event: 'e', id: 'i', retry: 5 }, 'event: e\nid: i\nretry: 5\ndata: d\n\n'],
    ['only a reconnection time', { retry: 0 }, 'retry: 0\n\n'],
    ['an empty id, which makes a client forget the last one', { id: '', data: 'x' }, 'id:\ndata: x\n\n'],
    ['a field that is undefined like one that is absent', { data: 'x', id: undefined }, 'data: x\n\n'],
    ['a leading space so that it survives', { data: ' x', id: ' y' }, 'id:  y\ndata:  x\n\n'],
    ['LF as a new data line', { data: 'a\nb' }, 'data: a\ndata: b\n\n'],
    ['CR as a new data line', { data: 'a\rb' }, 'data: a\ndata: b\n\n'],
    ['CRLF as one new data line', { data: 'a\r\nb' }, 'data: a\ndata: b\n\n'],
    ['each kind of line end in one payload', { data: '\r\n\n\rz' }, 'data: \ndata: \ndata: \ndata: z\n\n'],
    ['a payload that is one line end', { data: '\n' }, 'data: \ndata: \n\n'],
    ['a payload that looks like fields', { data: 'x\n\nid: 9' }, 'data: x\ndata: \ndata: id: 9\n\n'],
    ['line separators of Unicode as they are', { data: 'a\u2028b\u0085c\vd' }, 'data: a\u2028b\u0085c\vd\n\n'],
  ]
  it.each(cases)('writes %s', (_what, init, text) => {
    expect(encodeEvent(init)).toBe(text)
  })

  const refused: [reason: SseErrorReason, init: SseEventInit, message: string][] = [
    ['invalid-event', { event: 'a\nb' }, 'event must not contain CR or LF, got "a\\nb"'],
    ['invalid-event', { event: '\r', data: 'x' }, 'event must not contain CR or LF, got "\\r"'],
    ['invalid-id', { id: 'a\ndata: b' }, 'id must not contain CR, LF or NUL, got "a\\ndata: b"'],
    ['invalid-id', { id: 'a\r' }, 'id must not contain CR, LF or NUL, got "a\\r"'],
    ['invalid-id', { id: 'a\0' }, 'id must not contain CR, LF or NUL, got "a\\u0000"'],
    ['invalid-retry', { retry: -1 }, 'retry must be a non-negative integer, got "-1"'],
    ['invalid-retry', { retry: 1.5 }, 'retry must be a non-negative integer, got "1.5"'],
    ['invalid-retry', { retry: Number.NaN }, 'retry must be a non-negative integer, got "NaN"'],
    ['invalid-retry', { retry: Number.POSITIVE_INFINITY }, 'retry must be a non-negative integer, got "Infinity"'],
    ['invalid-retry', { retry: 2 ** 53 }, 'retry must be a non-negative integer, got "9007199254740992"'],
  ]
  it.each(refused)('rejects with %s %j', (reason, init, message) => {
    let caught: unknown
    try {
      encodeEvent(init)
    } catch (error) {
      caught = error
    }
    expect(caught).toBeInstanceOf(SseError)
    expect(caught).toMatchObject({ name: 'SseError', reason, message })
  })

  it('shows only the start of a rejected value', () => {
    expect(() => encodeEvent({ id: `${'a'.repeat(1e6)}\n` })).toThrow(/^.{1,140}$/)
  })
})

describe('encodeEventBytes', () => {
  it('returns the UTF-8 bytes of the string', () => {
    expect(encodeEventBytes({ data: 'é€😀' })).toEqual(new TextEncoder().encode('data: é€😀\n\n'))
  })
})

describe('encodeComment', () => {
  it.each([
    ['a comment', 'ka', ': ka\n\n'],
    ['an empty comment', '', ':\n\n'],
    ['each line as a comment of its own', 'a\r\nb\rc\nd', ': a\n: b\n: c\n: d\n\n'],
    ['a line that looks like data', 'x\ndata: y', ': x\n: data: y\n\n'],
  ])('writes %s', (_what, text, encoded) => {
    expect(encodeComment(text)).toBe(encoded)
  })

  it('writes an empty comment by default', () => {
    expect(encodeComment()).toBe(':\n\n')
  })
})
