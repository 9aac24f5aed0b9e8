import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { createDecoder, type Decoder, type DecoderOptions, type SseEvent } from './decode.ts'
import { SseError } from './sse-error.ts'

function collect(options: Partial<DecoderOptions> = {}): { decoder: Decoder; events: SseEvent[] } {
  const events: SseEvent[] = []
  return { decoder: createDecoder({ onEvent: (event) => events.push(event), ...options }), events }
}

function thrownBy(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  return undefined
}

describe('delivery', () => {
  it('happens as soon as the blank line is complete, also for a CR', () => {
    const { decoder, events } = collect()
    decoder.push('data: a\r\n\r')
    expect(events).toStrictEqual([{ data: 'a' }])
    decoder.push('\ndata: b\r\r')
    expect(events).toStrictEqual([{ data: 'a' }, { data: 'b' }])
  })

  it('ignores an empty chunk between CR and LF', () => {
    const { decoder, events } = collect()
    for (const chunk of ['data: a\r', '', new Uint8Array(), '\ndata: b\n\n']) decoder.push(chunk)
    expect(events).toStrictEqual([{ data: 'a\nb' }])
  })

  it('keeps two decoders apart', () => {
    const one = collect()
    const two = collect()
    one.decoder.push('data: o')
    two.decoder.push('data: t')
    one.decoder.push('ne\n\n')
    two.decoder.push('wo\n\n')
    expect([one.events, two.events]).toStrictEqual([[{ data: 'one' }], [{ data: 'two' }]])
  })
})

describe('maxEventSize', () => {
  const limit = 20
  const cases: [what: string, fits: string, above: string][] = [
    ['one line', `data: ${'a'.repeat(14)}\n\n`, `data: ${'a'.repeat(15)}\n\n`],
    ['several data lines', `data:${'a'.repeat(5)}\ndata:${'a'.repeat(5)}\n\n`, 'data:aaaaa\ndata:aaaaaa\n\n'],
    ['the other fields of the event', 'id: 123456\ndata: abcd\n\n', 'id: 123456\ndata: abcde\n\n'],
    ['a comment line by itself', `:${'a'.repeat(19)}\n`, `:${'a'.repeat(20)}\n`],
    ['comments inside an event', 'data: a\n: 45678901234\n\n', 'data: a\n: 456789012345\n\n'],
    ['several comments inside an event', 'data: a\n: 45\n: 45\n:\n\n', 'data: a\n: 4567\n: 4567\n: 4\n\n'],
    ['an unknown field', `foo: ${'a'.repeat(15)}\n\n`, `foo: ${'a'.repeat(16)}\n\n`],
    ['unknown fields without a blank line', 'x: 4567890\n'.repeat(2), 'x: 4567890\n'.repeat(3)],
    ['an invalid retry', `retry: ${'1'.repeat(13)}\n\n`, `retry: ${'1'.repeat(14)}\n\n`],
    ['astral characters as two', `data: ${'😀'.repeat(7)}\n\n`, `data: ${'😀'.repeat(8)}\n\n`],
    ['a line that never ends', `data: ${'a'.repeat(14)}`, `data: ${'a'.repeat(15)}`],
    ['a comment that never ends', `:${'a'.repeat(19)}`, `:${'a'.repeat(20)}`],
  ]
  it.each(cases)('counts %s', (_what, fits, above) => {
    for (const cut of [Number.POSITIVE_INFINITY, 7, 1]) {
      const pieces = (text: string) => text.match(new RegExp(`[^]{1,${Math.min(cut, 1000)}}`, 'g')) ?? []
      const roomy = collect({ maxEventSize: limit })
      for (const piece of pieces(fits)) roomy.decoder.push(piece)
      const tight = collect({ maxEventSize: limit })
      const error = thrownBy(() => {
        for (const piece of pieces(above)) tight.decoder.push(piece)
      })
      expect(error).toBeInstanceOf(SseError)
      expect(error).toMatchObject({ reason: 'event-too-large' })
    }
  })

  it('restarts after each blank line', () => {
    const { decoder, events } = collect({ maxEventSize: limit })
    for (let n = 0; n < 1000; n++) decoder.push('id: 1\ndata: abcdef\n\n')
    expect(events).toHaveLength(1000)
  })

  it('does not limit comments between events', () => {
    const { decoder, events } = collect({ maxEventSize: limit })
    for (let n = 0; n < 1000; n++) decoder.push(': still here\n')
    decoder.push('data: a\n\n')
    expect(events).toStrictEqual([{ data: 'a' }])
  })

  it('is 16 Mi characters by default', () => {
    const { decoder, events } = collect()
    decoder.push(`data: ${'a'.repeat(2 ** 24 - 6)}\n\n`)
    expect(events[0]?.data).toHaveLength(2 ** 24 - 6)
    decoder.push(`data: ${'a'.repeat(2 ** 24 - 6)}`)
    expect(thrownBy(() => decoder.push('a'))).toMatchObject({ reason: 'event-too-large' })
  })

  it('delivers the events before the one above the limit, and throws an error with the place and a remedy', () => {
    const { decoder, events } = collect({ maxEventSize: limit })
    const error = thrownBy(() => decoder.push(`data: a\n\ndata: b\n\ndata: ${'c'.repeat(20)}\n\ndata: d\n\n`))
    expect(events).toStrictEqual([{ data: 'a' }, { data: 'b' }])
    expect(error).toMatchObject({
      name: 'SseError',
      reason: 'event-too-large',
      message: 'The event after event 2 exceeds maxEventSize (20 characters): raise it, or send smaller events',
    })
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 28 + 1])('rejects %d', (maxEventSize) => {
    const error = thrownBy(() => collect({ maxEventSize }))
    expect(error).toBeInstanceOf(SseError)
    expect(error).toMatchObject({ reason: 'invalid-option', message: expect.stringContaining(`got ${maxEventSize}`) })
  })

  it.each([1, 2 ** 28])('may be %d', (maxEventSize) => {
    expect(collect({ maxEventSize }).decoder.end()).toStrictEqual({ incomplete: false })
  })
})

describe('the end', () => {
  it('returns the same result each time and closes the decoder', () => {
    const { decoder } = collect()
    decoder.push('data: a\n')
    expect(decoder.end()).toStrictEqual({ incomplete: true })
    expect(decoder.end()).toStrictEqual({ incomplete: true })
    expect(thrownBy(() => decoder.push('\n'))).toMatchObject({ name: 'SseError', reason: 'decoder-closed' })
  })

  it('after an error reports an incomplete stream and reads no further', () => {
    const { decoder, events } = collect({ maxEventSize: 8 })
    expect(thrownBy(() => decoder.push('data: too long\n\n'))).toMatchObject({ reason: 'event-too-large' })
    expect(thrownBy(() => decoder.push('data: a\n\n'))).toMatchObject({ reason: 'decoder-closed' })
    expect(decoder.end()).toStrictEqual({ incomplete: true })
    expect(events).toStrictEqual([])
  })

  it.each(['onEvent', 'onComment', 'onRetry'] as const)('follows an error thrown by %s, which is passed on', (name) => {
    const failure = new Error('mine')
    const { decoder } = collect({
      [name]: () => {
        throw failure
      },
    })
    expect(thrownBy(() => decoder.push(': c\nretry: 1\ndata: a\n\n'))).toBe(failure)
    expect(thrownBy(() => decoder.push('data: b\n\n'))).toMatchObject({ reason: 'decoder-closed' })
    expect(decoder.end()).toStrictEqual({ incomplete: true })
  })

  it.each(['data: a\n\n', 'id: a\n\n', ': a\n', 'retry: 1\n'])(
    'may be called by the callback for %j, and stops there',
    (first) => {
      const seen: unknown[] = []
      const stop = (value: unknown) => {
        seen.push(value)
        expect(decoder.end()).toStrictEqual({ incomplete: false })
      }
      const decoder = createDecoder({ onEvent: stop, onComment: stop, onRetry: stop, maxEventSize: 10 })
      decoder.push(`${first}data: b\n\n: b\nretry: 2\ndata: above the limit\n\ndata: c`)
      expect(seen).toHaveLength(1)
      expect(decoder.end()).toStrictEqual({ incomplete: false })
    },
  )
})

describe('a push from inside a callback', () => {
  it('is rejected', () => {
    const reasons: unknown[] = []
    const { decoder, events } = collect({
      onComment: () => {
        reasons.push(thrownBy(() => decoder.push('data: inner\n\n')))
      },
    })
    decoder.push(': go\ndata: outer\n\n')
    decoder.push('data: next\n\n')
    expect(reasons).toMatchObject([{ name: 'SseError', reason: 'decoder-busy' }])
    expect(events).toStrictEqual([{ data: 'outer' }, { data: 'next' }])
  })
})

describe('memory', () => {
  setFlagsFromString('--expose_gc')
  const collectGarbage: () => void = runInNewContext('gc')
  const heap = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const limit = 2 ** 20
  const streams: [what: string, start: string, chunk: string, times: number, perCharacter: number][] = [
    ['a line in chunks of two characters', 'data: ', 'ab', limit / 2 - 10, 4],
    ['a comment in chunks of two characters', ': ', 'ab', limit / 2 - 10, 4],
    ['comment lines', '', ': ab\n'.repeat(1000), 5000, 1],
    ['lines of unknown fields', '', 'x: ab\n'.repeat(1000), limit / 5000 - 1, 1],
    ['the smallest data lines', '', 'data:a\n'.repeat(100), limit / 600 - 1, 20],
    ['short data in long chunks', 'data: x\n', `:${'c'.repeat(2 ** 16)}\ndata: 0123456789abc\n`, 15, 4],
  ]
  it.each(streams)('for %s is proportional to the limit', (_what, start, chunk, times, perCharacter) => {
    const bytes = new TextEncoder().encode(chunk)
    const { decoder } = collect({ maxEventSize: limit })
    const before = heap()
    decoder.push(start)
    for (let n = 1; n < times; n++) decoder.push(bytes)
    expect((heap() - before) / limit).toBeLessThan(perCharacter)
    decoder.end()
  })
})

describe('time is linear', () => {
  const seconds = (work: () => void) => {
    const start = performance.now()
    work()
    return (performance.now() - start) / 1000
  }
  // Each of these takes milliseconds; a quadratic reader takes from several seconds to minutes.
  const streams: [what: string, chunk: string, times: number][] = [
    ['a line of 10 MB in chunks of 1 kB', 'a'.repeat(1000), 10_000],
    ['a line of 1 MB in single characters', 'a', 1_000_000],
    ['a line of 2 MB in chunks of 20 characters', 'a'.repeat(20), 100_000],
    ['one chunk of line feeds that ends in CR', `${'\n'.repeat(4_000_000)}\r`, 1],
    ['one chunk of CRs', '\r'.repeat(2_000_000), 1],
    ['unknown fields', 'x\n\n'.repeat(1000), 1000],
    ['data lines of one character', 'data:a\n'.repeat(1000), 500],
  ]
  it.each(streams)('for %s', (_what, chunk, times) => {
    const { decoder } = collect()
    decoder.push('data: ')
    expect(
      seconds(() => {
        for (let n = 0; n < times; n++) decoder.push(chunk)
        decoder.push('\n\n')
      }),
    ).toBeLessThan(2)
  })
})
