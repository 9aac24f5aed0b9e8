/** Reads the body of a response as text, up to a limit. */

import { ConnectionError } from '@mcpx/protocol'

/** Rejects with `ConnectionError` `limit` as soon as there are more bytes, and with the runtime's error when it is cut. */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  if (response.body === null) return ''
  const tooLarge = async () => {
    await response.body?.cancel().catch(() => {})
    const hint = 'Raise maxResponseSize, or ask for less.'
    return new ConnectionError('limit', `The answer is larger than ${maxBytes} bytes`, { hint })
  }
  if (Number(response.headers.get('content-length')) > maxBytes) throw await tooLarge()
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.byteLength
    if (size > maxBytes) {
      reader.releaseLock()
      throw await tooLarge()
    }
    text += decoder.decode(value, { stream: true })
  }
}
