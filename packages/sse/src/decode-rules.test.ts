/** One row for each rule of https://html.spec.whatwg.org/multipage/server-sent-events.html. */
import { describe, expect, it } from 'vitest'
import { createDecoder, type SseEvent } from './decode.ts'

interface Outcome {
  events?: SseEvent[]
  comments?: string[]
  retries?: number[]
  incomplete?: boolean
}

function decode(pieces: (string | Uint8Array)[]): Required<Outcome> {
  const events: SseEvent[] = []
  const comments: string[] = []
  const retries: number[] = []
  const decoder = createDecoder({
    onEvent: (event) => events.push(event),
    onComment: (comment) => comments.push(comment),
    onRetry: (milliseconds) => retries.push(milliseconds),
  })
  for (const piece of pieces) decoder.push(piece)
  return { events, comments, retries, ...decoder.end() }
}

const utf8 = new TextEncoder()
const nothing: Required<Outcome> = { events: [], comments: [], retries: [], incomplete: false }

const rules: [rule: string, stream: string, outcome: Outcome][] = [
  ['LF ends a line', 'data: a\n\n', { events: [{ data: 'a' }] }],
  ['CR ends a line', 'data: a\r\r', { events: [{ data: 'a' }] }],
  ['CRLF ends one line', 'data: a\r\n\r\n', { events: [{ data: 'a' }] }],
  ['LF CR is two line ends', 'data: a\n\rdata: b\n\r', { events: [{ data: 'a' }, { data: 'b' }] }],
  ['CR CRLF is two line ends', 'data: a\r\r\ndata: b\n\n', { events: [{ data: 'a' }, { data: 'b' }] }],
  ['line ends mix freely', 'data: a\r\ndata: b\rdata: c\n\r\n', { events: [{ data: 'a\nb\nc' }] }],
  [
    'other Unicode separators do not end a line',
    'data: a\u2028b\u0085c\n\n',
    { events: [{ data: 'a\u2028b\u0085c' }] },
  ],
  ['one leading byte order mark is dropped', '\uFEFFdata: a\n\n', { events: [{ data: 'a' }] }],
  ['a second byte order mark belongs to the field name', '\uFEFF\uFEFFdata: a\n\n', { incomplete: false }],
  ['a byte order mark later on is data', 'data: \uFEFFa\n\n', { events: [{ data: '\uFEFFa' }] }],
  ['three characters that resemble its bytes are no mark', 'ï»¿data: a\n\n', {}],
  ['an empty stream has no events', '', {}],
  ['blank lines alone dispatch nothing', '\n\r\n\r\n\n', {}],
  ['one space after the colon is dropped', 'data: a\n\n', { events: [{ data: 'a' }] }],
  ['no space after the colon is needed', 'data:a\n\n', { events: [{ data: 'a' }] }],
  ['a second space is kept', 'data:  a\n\n', { events: [{ data: ' a' }] }],
  ['a tab is kept', 'data:\ta\n\n', { events: [{ data: '\ta' }] }],
  ['a trailing space is kept', 'data: a \n\n', { events: [{ data: 'a ' }] }],
  ['only the first colon separates', 'data: a: b:c\n\n', { events: [{ data: 'a: b:c' }] }],
  ['data lines are joined by LF', 'data: a\ndata: b\ndata: c\n\n', { events: [{ data: 'a\nb\nc' }] }],
  [
    'a data line without a colon is an empty line',
    'data\n\ndata\ndata\n\n',
    { events: [{ data: '' }, { data: '\n' }] },
  ],
  ['empty data is an event', 'data:\n\n', { events: [{ data: '' }] }],
  ['empty data lines count', 'data:\ndata: a\ndata:\n\n', { events: [{ data: '\na\n' }] }],
  ['an event has its type', 'event: t\ndata: a\n\n', { events: [{ data: 'a', event: 't' }] }],
  ['the last type wins', 'event: t\ndata: a\nevent: u\n\n', { events: [{ data: 'a', event: 'u' }] }],
  ['an empty type is no type', 'event: t\nevent\ndata: a\n\n', { events: [{ data: 'a' }] }],
  [
    'a type does not reach the next event',
    'event: t\ndata: a\n\ndata: b\n\n',
    { events: [{ data: 'a', event: 't' }, { data: 'b' }] },
  ],
  ['a type without data is dropped', 'event: t\n\ndata: b\n\n', { events: [{ data: 'b' }] }],
  ['an event has its id', 'id: 1\ndata: a\n\n', { events: [{ data: 'a', id: '1' }] }],
  ['an id may come after the data', 'data: a\nid: 1\n\n', { events: [{ data: 'a', id: '1' }] }],
  [
    'an id belongs to its own event only',
    'id: 1\ndata: a\n\ndata: b\n\n',
    { events: [{ data: 'a', id: '1' }, { data: 'b' }] },
  ],
  [
    'an empty id is reported',
    'id\ndata: a\n\nid:\ndata: b\n\n',
    {
      events: [
        { data: 'a', id: '' },
        { data: 'b', id: '' },
      ],
    },
  ],
  ['an id with NUL is ignored', 'id: 1\nid: a\0b\ndata: a\n\n', { events: [{ data: 'a', id: '1' }] }],
  ['an id with empty data primes the client', 'id: 1\ndata:\n\n', { events: [{ data: '', id: '1' }] }],
  [
    'an id without data still reaches the client',
    'id: 1\n\ndata: b\n\n',
    { events: [{ data: '', id: '1' }, { data: 'b' }] },
  ],
  ['an id without data brings no type along', 'event: t\nid: 1\n\n', { events: [{ data: '', id: '1' }] }],
  ['an id with NUL and no data is nothing', 'id: \0\n\n', {}],
  ['retry is a time in milliseconds', 'retry: 1500\n\n', { retries: [1500] }],
  ['retry applies at once, without an event', 'retry: 1\nretry:002\n', { retries: [1, 2], incomplete: true }],
  [
    'retry accepts ASCII digits only',
    'retry: 1x\nretry: -1\nretry: 1.5\nretry: +1\nretry: ١\nretry:  1\nretry:\nretry\n\n',
    {},
  ],
  [
    'retry of 15 digits is the longest',
    'retry: 999999999999999\nretry: 1000000000000000\n\n',
    { retries: [999999999999999] },
  ],
  ['a line that starts with a colon is a comment', ': a\n:b\n:\n::c\n:  d\n', { comments: ['a', 'b', '', ':c', ' d'] }],
  ['a comment ends no event', 'data: a\n: x\ndata: b\n\n', { events: [{ data: 'a\nb' }], comments: ['x'] }],
  ['an unknown field is ignored', 'foo: x\ndata: a\nbar\n\n', { events: [{ data: 'a' }] }],
  ['names are compared case by case', 'Data: x\nDATA: y\nID: 1\ndata: a\n\n', { events: [{ data: 'a' }] }],
  ['names are not trimmed', ' data: x\ndata : y\nid : 1\ndata: a\n\n', { events: [{ data: 'a' }] }],
  ['names are whole', 'dat: x\ndatax: y\nidx: 1\nretryx: 1\nda\ndata: a\n\n', { events: [{ data: 'a' }] }],
  [
    'an event cut before its blank line is dropped',
    'data: a\n\ndata: b\n',
    { events: [{ data: 'a' }], incomplete: true },
  ],
  ['an event cut inside a line is dropped', 'data: a\n\nid: 2\nda', { events: [{ data: 'a' }], incomplete: true }],
  ['a comment cut inside its line is no event', 'data: a\n\n: k', { events: [{ data: 'a' }] }],
  ['a cut comment inside an event leaves it cut', 'data: a\n: k', { incomplete: true }],
]

describe('each rule of the event stream format', () => {
  it.each(rules)('%s', (_rule, stream, outcome) => {
    expect(decode([stream])).toStrictEqual({ ...nothing, ...outcome })
  })

  it.each(rules)('%s, byte by byte', (_rule, stream, outcome) => {
    const bytes = [...utf8.encode(stream)].map((byte) => Uint8Array.of(byte))
    expect(decode(bytes)).toStrictEqual({ ...nothing, ...outcome })
  })
})

describe('bytes that are not UTF-8', () => {
  it('become replacement characters', () => {
    const bytes = Uint8Array.of(...utf8.encode('data: '), 0xff, 0xe2, 0x82, 0x0a, 0x0a)
    expect(decode([bytes])).toStrictEqual({ ...nothing, events: [{ data: '\uFFFD\uFFFD' }] })
  })

  it('count as incomplete at the end of the stream', () => {
    expect(decode([Uint8Array.of(0xe2, 0x82)]).incomplete).toBe(true)
    expect(decode([': ', Uint8Array.of(0xe2)]).incomplete).toBe(false)
  })

  it('are completed by a following string', () => {
    const outcome = decode(['data: ', Uint8Array.of(0xe2, 0x82), 'x\n\n', utf8.encode('data: y\n\n')])
    expect(outcome.events).toStrictEqual([{ data: '\uFFFDx' }, { data: 'y' }])
  })
})
