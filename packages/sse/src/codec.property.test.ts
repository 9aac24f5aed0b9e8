/** Properties of every stream with chunks of any size, compared with a reference implementation. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDecoder, type SseEvent } from './decode.ts'
import { encodeComment, encodeEvent, type SseEventInit } from './encode.ts'
import { SseError } from './sse-error.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`codec.property.test.ts: FC_SEED=${seed}`)
const settings = { seed, numRuns: 1000 }

interface Seen {
  events: SseEvent[]
  comments: string[]
  retries: number[]
}

interface Decoded extends Seen {
  error: unknown
  incomplete: boolean
}

function decode(
  chunks: Iterable<string | Uint8Array>,
  maxEventSize = 2 ** 24,
  afterPush?: (chunk: number) => void,
): Decoded {
  const seen: Seen = { events: [], comments: [], retries: [] }
  const decoder = createDecoder({
    onEvent: (event) => seen.events.push(event),
    onComment: (comment) => seen.comments.push(comment),
    onRetry: (milliseconds) => seen.retries.push(milliseconds),
    maxEventSize,
  })
  let error: unknown
  try {
    let count = 0
    for (const chunk of chunks) {
      decoder.push(chunk)
      afterPush?.(++count)
    }
  } catch (thrown) {
    error = thrown
  }
  return { ...seen, error, ...decoder.end() }
}

interface Reading extends Seen {
  /** Returns the largest size of an event or a line in characters, including unfinished ones. */
  largest: number
  incomplete: boolean
}

/** The algorithm of the specification for a whole stream, without optimization. */
function readWhole(stream: string): Reading {
  const lines = stream.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)
  const tail = lines.pop() ?? ''
  const reading: Reading = { events: [], comments: [], retries: [], largest: 0, incomplete: false }
  let data: string[] = []
  let type = ''
  let id: string | undefined
  let size = 0
  for (const line of lines) {
    if (line === '') {
      if (data.length > 0 || id !== undefined) {
        const named = data.length > 0 && type !== '' ? { event: type } : {}
        reading.events.push({ data: data.join('\n'), ...named, ...(id === undefined ? {} : { id }) })
      }
      data = []
      type = ''
      id = undefined
      size = 0
      continue
    }
    reading.largest = Math.max(reading.largest, size + line.length)
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (colon === 0) reading.comments.push(value)
    if (size > 0 || colon !== 0) size += line.length
    if (name === 'data') data.push(value)
    if (name === 'event') type = value
    if (name === 'id' && !value.includes('\0')) id = value
    if (name === 'retry' && /^[0-9]{1,15}$/.test(value)) reading.retries.push(Number(value))
  }
  reading.largest = Math.max(reading.largest, size + tail.length)
  reading.incomplete = size > 0 || (tail !== '' && !tail.startsWith(':'))
  return reading
}

function cut<Whole extends string | Uint8Array>(whole: Whole, lengths: number[]): Whole[] {
  const chunks: Whole[] = []
  let at = 0
  for (let n = 0; at < whole.length; n++) {
    const end = at + (lengths[n % lengths.length] ?? 1)
    chunks.push(whole.slice(at, end) as Whole)
    at = end
  }
  return chunks
}

const utf8 = new TextEncoder()
const chunkLengths = fc.array(fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 40 })), { minLength: 1, maxLength: 8 })
const anyText = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom('\n', '\r', '\r\n', ' ', ':', '\uFEFF', 'é', '€', '😀', 'data: x', '\u2028'),
    },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 5 }) },
    { weight: 1, arbitrary: fc.string({ maxLength: 200 }) },
  ),
  { maxLength: 6 },
)
const text = anyText.map((parts) => parts.join(''))
const line = text.map((value) => value.replaceAll(/[\r\n]/g, ''))
const init: fc.Arbitrary<SseEventInit> = fc.record(
  { data: text, event: line, id: line.map((value) => value.replaceAll('\0', '')), retry: fc.nat() },
  { requiredKeys: [] },
)

describe('an encoded stream', () => {
  const lineEnd = /\r\n|\r|\n/
  const block = fc.oneof(
    { weight: 4, arbitrary: fc.record({ init }) },
    { weight: 1, arbitrary: fc.record({ comment: text }) },
  )

  it('is decoded unchanged, with chunks of any size', () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 8 }), chunkLengths, fc.boolean(), (blocks, lengths, withMark) => {
        const expected: Seen = { events: [], comments: [], retries: [] }
        let stream = withMark ? '\uFEFF' : ''
        for (const part of blocks) {
          if ('comment' in part) {
            stream += encodeComment(part.comment)
            expected.comments.push(...part.comment.split(lineEnd))
            continue
          }
          const { data, event, id, retry } = part.init
          stream += encodeEvent(part.init)
          if (retry !== undefined) expected.retries.push(retry)
          if (data === undefined && id === undefined) continue
          expected.events.push({
            data: (data ?? '').split(lineEnd).join('\n'),
            ...(event && data !== undefined ? { event } : {}),
            ...(id === undefined ? {} : { id }),
          })
        }
        const outcome = { ...expected, error: undefined, incomplete: false }
        expect(decode(cut(utf8.encode(stream), lengths))).toStrictEqual(outcome)
        expect(decode(cut(stream, lengths))).toStrictEqual(outcome)
      }),
      settings,
    )
  })
})

describe('any bytes at all', () => {
  const token = fc.oneof(
    {
      weight: 12,
      arbitrary: fc
        .constantFrom(
          'data',
          'data: ',
          'event: ',
          'id: ',
          'id',
          'retry: ',
          ':',
          ': ',
          ' ',
          'a',
          '7',
          '\0',
          '\uFEFF',
          '€😀',
          'x: y',
        )
        .map((value) => utf8.encode(value)),
    },
    {
      weight: 16,
      arbitrary: fc
        .constantFrom(
          '\n',
          '\r',
          '\r\n',
          '\n\n',
          ': c\n',
          'x: y\r',
          'data: d\r\n',
          'id: 1\n',
          'event: e\n',
          'retry: 5\r',
        )
        .map((value) => utf8.encode(value)),
    },
    { weight: 2, arbitrary: fc.uint8Array({ maxLength: 4 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(Uint8Array.of(0xe2), Uint8Array.of(0xef, 0xbb), Uint8Array.of(0xf0, 0x9f)),
    },
  )
  const stream = fc.array(token, { maxLength: 60 }).map((parts) => Uint8Array.from(parts.flatMap((part) => [...part])))
  const whole = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

  it('are decoded by the rules', () => {
    fc.assert(
      fc.property(stream, (bytes) => {
        const { largest: _, ...expected } = readWhole(whole(bytes))
        expect(decode([bytes])).toStrictEqual({ ...expected, error: undefined })
      }),
      settings,
    )
  })

  it('are decoded equally in one chunk and in many, including errors', () => {
    fc.assert(
      fc.property(stream, chunkLengths, fc.integer({ min: 1, max: 60 }), (bytes, lengths, limit) => {
        const once = decode([bytes], limit)
        expect(decode(cut(bytes, lengths), limit)).toStrictEqual(once)
        const asText = whole(bytes)
        expect(decode(cut(asText, lengths), limit)).toStrictEqual(decode([asText], limit))
      }),
      settings,
    )
  })

  it('cause the named error exactly if an event or a line is above the limit', () => {
    fc.assert(
      fc.property(stream, chunkLengths, fc.integer({ min: 1, max: 60 }), (bytes, lengths, limit) => {
        const { error } = decode(cut(bytes, lengths), limit)
        // A UTF-8 sequence that is cut by the end of the stream is not a character yet.
        const received = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })
        expect(error !== undefined).toBe(readWhole(received).largest > limit)
        if (error === undefined) return
        expect(error).toBeInstanceOf(SseError)
        expect(error).toMatchObject({ reason: 'event-too-large' })
      }),
      settings,
    )
  })

  it('are never buffered beyond the limit', () => {
    fc.assert(
      fc.property(stream, chunkLengths, fc.integer({ min: 1, max: 30 }), (bytes, lengths, limit) => {
        const chunks = cut(bytes, lengths)
        decode(chunks, limit, (count) => {
          const received = new TextDecoder('utf-8', { ignoreBOM: true })
          const soFar = chunks.slice(0, count).map((chunk) => received.decode(chunk, { stream: true }))
          expect(readWhole(soFar.join('')).largest).toBeLessThanOrEqual(limit)
        })
      }),
      settings,
    )
  })
})
