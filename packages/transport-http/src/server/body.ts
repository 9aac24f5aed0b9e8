/** Reads the body of a request as UTF-8 text, and stops at the limit instead of after it. */

import { invalidRequest, parseError } from '@mcpx/protocol'
import { refusal } from './answers.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The text; or the refusal, when there is too much of it, or it is no text. */
export async function readBody(request: Request, limit: number): Promise<string | Response> {
  const announced = request.headers.get('content-length')
  if (announced !== null && Number(announced) > limit) return tooLarge(limit)
  try {
    // A runtime gives no more than was announced, so there is nothing to count.
    const bytes = announced === null ? await readCounted(request, limit) : new Uint8Array(await request.arrayBuffer())
    if (bytes === undefined || bytes.byteLength > limit) return tooLarge(limit)
    return decodeText(bytes)
  } catch {
    return refusal(400, invalidRequest('The body could not be read: the connection broke while it was sent'))
  }
}

function decodeText(bytes: Uint8Array): string | Response {
  try {
    return utf8.decode(bytes)
  } catch {
    return refusal(400, parseError('Parse error: the body is not valid UTF-8'))
  }
}

async function readCounted(request: Request, limit: number): Promise<Uint8Array | undefined> {
  const reader = request.body?.getReader()
  if (reader === undefined) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return joined(chunks, length)
    length += value.byteLength
    if (length > limit) {
      await reader.cancel().catch(() => {})
      return undefined
    }
    chunks.push(value)
  }
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}

function tooLarge(limit: number): Response {
  // What is left of the body is not read: the connection cannot carry another request.
  const headers = { connection: 'close' }
  return refusal(413, invalidRequest(`The body is larger than ${limit} bytes (limits.body)`), undefined, headers)
}
