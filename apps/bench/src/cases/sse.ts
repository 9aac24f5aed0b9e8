/** Decoding and encoding of server-sent events, compared with simple string operations. */
import { createDecoder, encodeEventBytes, type SseEvent } from '@mcpx/sse'
import type { SpeedCase, Work } from '../case.ts'

const COUNT = 200

const payloads = Array.from({ length: COUNT }, (_, n) =>
  JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: {
      progressToken: n,
      progress: n,
      total: COUNT,
      message: `Indexed ${n} of ${COUNT} files in packages/protocol`,
    },
  }),
)
const stream = payloads.map((data) => `data: ${data}\n\n`).join('')
const utf8 = new TextEncoder()
const singly = payloads.map((data) => utf8.encode(`data: ${data}\n\n`))

/** Encodes to bytes, because concatenated strings are joined lazily by the engine. */
function encoding(write: (data: string) => Uint8Array): () => Work {
  return () => ({
    call: () => {
      let length = 0
      for (const data of payloads) length += write(data).length
      return length
    },
    isRight: (length) => length === stream.length,
    characters: stream.length,
  })
}

function isAllPayloads(found: unknown): boolean {
  return Array.isArray(found) && found.length === COUNT && found.every((data, n) => data === payloads[n])
}

/** This is sufficient if each event is one data line within one chunk. */
function splitting(chunks: readonly (string | Uint8Array)[]): Work {
  const call = () => {
    const found: string[] = []
    const decoder = new TextDecoder()
    for (const chunk of chunks) {
      const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
      for (const block of text.split('\n\n')) if (block.startsWith('data: ')) found.push(block.slice(6))
    }
    return found
  }
  return { call, isRight: isAllPayloads, characters: stream.length }
}

function decoding(chunks: readonly (string | Uint8Array)[]): Work {
  const call = () => {
    const found: string[] = []
    const decoder = createDecoder({ onEvent: ({ data }: SseEvent) => void found.push(data) })
    for (const chunk of chunks) decoder.push(chunk)
    decoder.end()
    return found
  }
  return { call, isRight: isAllPayloads, characters: stream.length }
}

export const sse: SpeedCase = {
  kind: 'speed',
  name: 'sse',
  says: `A stream of ${COUNT} progress notifications, ${Math.round(stream.length / COUNT)} bytes each; one call is the whole stream.`,
  subjects: [
    {
      name: 'template',
      says: 'a template string for each event, to bytes',
      prepare: encoding((data) => utf8.encode(`data: ${data}\n\n`)),
    },
    {
      name: 'encode',
      says: '`encodeEventBytes`',
      against: 'template',
      prepare: encoding((data) => encodeEventBytes({ data })),
    },
    { name: 'split', says: 'the whole stream as one string, split at blank lines', prepare: () => splitting([stream]) },
    {
      name: 'decode',
      says: 'the whole stream as one string',
      against: 'split',
      prepare: () => decoding([stream]),
    },
    {
      name: 'split, singly',
      says: 'an event a chunk, in bytes, as from a server that flushes each',
      prepare: () => splitting(singly),
    },
    {
      name: 'decode, singly',
      says: 'an event a chunk, in bytes',
      against: 'split, singly',
      prepare: () => decoding(singly),
    },
  ],
}
