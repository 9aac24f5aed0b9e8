import { describe, expect, expectTypeOf, it } from 'vitest'
import type { SseEvent } from './decode.ts'
import { type DecodeStreamOptions, decodeStream } from './decode-stream.ts'
import { encodeEventBytes } from './encode.ts'
import { SseError } from './sse-error.ts'

const utf8 = new TextEncoder()

/** A source of bytes that records whether it was read and cancelled. */
function source(chunks: string[]) {
  const state = { pulled: 0, cancelled: undefined as unknown }
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[state.pulled]
        if (chunk === undefined) return controller.close()
        state.pulled++
        controller.enqueue(utf8.encode(chunk))
      },
      cancel(reason) {
        state.cancelled = reason
      },
    },
    { highWaterMark: 0 },
  )
  return { state, stream }
}

async function collect(stream: ReadableStream<SseEvent>): Promise<{ events: SseEvent[]; error: unknown }> {
  const events: SseEvent[] = []
  try {
    for await (const event of stream) events.push(event)
  } catch (error) {
    return { events, error }
  }
  return { events, error: undefined }
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0))
}

describe('decodeStream', () => {
  it('turns bytes into events', async () => {
    const { stream } = source(['\uFEFFid: 1\nda', 'ta: a\r', '\n\r\ndata: b\n\n: k\n', 'event: t\ndata: c\n\n'])
    const { events, error } = await collect(stream.pipeThrough(decodeStream()))
    expect(error).toBeUndefined()
    expect(events).toStrictEqual([{ data: 'a', id: '1' }, { data: 'b' }, { data: 'c', event: 't' }])
  })

  it('accepts the body of a Response, also by type', async () => {
    const body = new Response(encodeEventBytes({ data: 'a' })).body
    const events = body?.pipeThrough(decodeStream())
    expectTypeOf(events).toEqualTypeOf<ReadableStream<SseEvent> | undefined>()
    expectTypeOf(decodeStream).returns.toEqualTypeOf<TransformStream<Uint8Array, SseEvent>>()
    expect(await collect(events as ReadableStream<SseEvent>)).toMatchObject({ events: [{ data: 'a' }] })
  })

  it('passes comments and retries to their callbacks, and reports an incomplete event', async () => {
    const calls: unknown[] = []
    const options: DecodeStreamOptions = {
      onComment: (comment) => calls.push(['comment', comment]),
      onRetry: (milliseconds) => calls.push(['retry', milliseconds]),
      onIncomplete: () => calls.push('incomplete'),
    }
    const { stream } = source([': a\nretry: 7\n\ndata: a\n\n', 'data: b\n'])
    expect((await collect(stream.pipeThrough(decodeStream(options)))).events).toStrictEqual([{ data: 'a' }])
    expect(calls).toStrictEqual([['comment', 'a'], ['retry', 7], 'incomplete'])
  })

  it('reports no incomplete event for a stream that ends between events', async () => {
    let cut = false
    const { stream } = source(['data: a\n\n: cut comm'])
    const onIncomplete = () => {
      cut = true
    }
    await collect(stream.pipeThrough(decodeStream({ onIncomplete })))
    expect(cut).toBe(false)
  })

  it('yields all events before the one above the limit, then throws and cancels the source', async () => {
    let cut = false
    const { state, stream } = source(['data: a\n\ndata: b\n\ndata: c\n\ndata: too long\n\n', 'data: d\n\n'])
    const onIncomplete = () => {
      cut = true
    }
    const { events, error } = await collect(stream.pipeThrough(decodeStream({ maxEventSize: 10, onIncomplete })))
    expect(events).toStrictEqual([{ data: 'a' }, { data: 'b' }, { data: 'c' }])
    expect(error).toBeInstanceOf(SseError)
    expect(error).toMatchObject({ reason: 'event-too-large' })
    expect(state).toStrictEqual({ pulled: 1, cancelled: error })
    expect(cut).toBe(false)
  })

  it('fails at once if the first chunk contains only the event above the limit', async () => {
    const { stream } = source(['data: too long'])
    const { error } = await collect(stream.pipeThrough(decodeStream({ maxEventSize: 10 })))
    expect(error).toMatchObject({ reason: 'event-too-large' })
  })

  it('fails with the error of a callback', async () => {
    const failure = new Error('mine')
    const { state, stream } = source(['data: a\n\n: c\ndata: b\n\n'])
    const onComment = () => {
      throw failure
    }
    const { events, error } = await collect(stream.pipeThrough(decodeStream({ onComment })))
    expect([events, error, state.cancelled]).toStrictEqual([[{ data: 'a' }], failure, failure])
  })

  it('fails with the error of the source', async () => {
    const failure = new Error('connection lost')
    let pulls = 0
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pulls++ === 0) controller.enqueue(utf8.encode('data: a\n\n'))
        else controller.error(failure)
      },
    })
    expect((await collect(stream.pipeThrough(decodeStream()))).error).toBe(failure)
  })

  it('rejects an invalid option before reading', () => {
    expect(() => decodeStream({ maxEventSize: 0 })).toThrow(SseError)
  })

  it('reads only as much as requested', async () => {
    const chunks = Array.from({ length: 100 }, (_, n) => `data: ${n}\n\ndata: ${n}\n\n`)
    const { state, stream } = source(chunks)
    const reader = stream.pipeThrough(decodeStream()).getReader()
    for (let n = 0; n < 4; n++) await reader.read()
    await settled()
    expect(state.pulled).toBeLessThanOrEqual(4)
    await reader.cancel()
  })

  it('reads past chunks that complete no event', async () => {
    const { stream } = source([...'data: a\n\n', ...': nothing\n', ...'data: b\n\n'])
    expect((await collect(stream.pipeThrough(decodeStream()))).events).toStrictEqual([{ data: 'a' }, { data: 'b' }])
  })

  it('cancels the source when the reader stops, also while it waits, without reporting an incomplete event', async () => {
    let cut = false
    const onIncomplete = () => {
      cut = true
    }
    const gone: unknown[] = []
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(utf8.encode('data: a\n\ndata: b')),
      cancel: (reason) => {
        gone.push(reason)
      },
    })
    const reader = stream.pipeThrough(decodeStream({ onIncomplete })).getReader()
    expect(await reader.read()).toStrictEqual({ done: false, value: { data: 'a' } })
    const waiting = reader.read()
    await settled()
    await reader.cancel('enough')
    expect(await waiting).toStrictEqual({ done: true, value: undefined })
    await settled()
    expect([gone, cut]).toStrictEqual([['enough'], false])
  })
})
