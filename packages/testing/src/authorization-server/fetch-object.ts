/** Fetches JSON objects, such as client metadata and keys, with limits on time and size. */

/** The `fetch` function of an option: it is called with a URL as a string. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>

/** Time limit, in ms. */
const TIMEOUT = 5_000

/**
 * Fetches a JSON object without following redirects. Rejects with an Error that names the problem.
 *
 * @param maxBytes Limit of the body. Default: 262,144.
 */
export async function fetchObject(
  url: string,
  fetch: Fetch = (input, init) => globalThis.fetch(input, init),
  maxBytes = 256 * 1024,
): Promise<Record<string, unknown>> {
  const signal = AbortSignal.timeout(TIMEOUT)
  const response = await fetch(url, { headers: { accept: 'application/json' }, redirect: 'manual', signal })
  if (response.status !== 200) throw new Error(`expected status 200, got ${response.status}`)
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  // Leaving the loop by an error cancels the body.
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw new Error(`expected at most ${maxBytes} bytes, got more`)
    text += decoder.decode(chunk, { stream: true })
  }
  const value: unknown = JSON.parse(text + decoder.decode())
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('expected a JSON object')
  return value as Record<string, unknown>
}
