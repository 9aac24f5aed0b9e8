/** Events go out as bytes, arrive in pieces cut anywhere, and come back as they were. */
import { deepEqual, equal, throws } from 'node:assert/strict'
import { createDecoder, encodeComment, encodeEventBytes, SseError, type SseEvent } from '@mcpx/sse'
import type { Story } from './story.ts'

const sent: SseEvent[] = [
  { id: '1', event: 'message', data: '{"tool":"add","a":1,"b":2}' },
  { id: '2', data: 'two lines\nof text, and an emoji 🦉' },
  { id: '3', data: '' },
]

export const sseStory: Story = {
  title: 'Server-sent events, encoded and decoded (@mcpx/sse)',
  async tell(say) {
    const comment = new TextEncoder().encode(encodeComment('still here'))
    const bytes = Buffer.concat([comment, ...sent.map((event) => encodeEventBytes(event))])
    say(`${sent.length} events are ${bytes.length} bytes on the wire`)

    for (let size = 1; size <= bytes.length; size += 1) deepEqual(decodeInPieces(bytes, size), sent)
    say(`cut into pieces of 1, 2, ... ${bytes.length} bytes, they always come back as they were`)

    throws(() => decodeInPieces(bytes, 7, 40), tooLarge)
    say('a decoder told to take 40 characters at most refuses them, by name: event-too-large')
  },
}

function decodeInPieces(bytes: Uint8Array, size: number, maxEventSize?: number): SseEvent[] {
  const events: SseEvent[] = []
  const decoder = createDecoder({ onEvent: (event) => events.push(event), maxEventSize })
  for (let at = 0; at < bytes.length; at += size) decoder.push(bytes.subarray(at, at + size))
  equal(decoder.end().incomplete, false)
  return events
}

function tooLarge(error: unknown): boolean {
  return error instanceof SseError && error.reason === 'event-too-large'
}
