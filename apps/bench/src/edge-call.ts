/** Calls a bundled server once, to check that it works. */
import { messageText, requestHeaders, type Target } from './driver/requests.ts'

/** Throws if the `fetch` of a program does not add two numbers. */
export async function expectSum(name: string, fetch: unknown, era: Target['era']): Promise<void> {
  const target: Target = { era, port: 80, ...(era === 'legacy' && { revision: '2025-06-18' }) }
  const request = new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: requestHeaders(target, 'tools/call', 'add'),
    body: messageText(era, 'tools/call', { name: 'add', arguments: { a: 2, b: 3 } }, 1),
  })
  const response = await (fetch as (request: Request) => Promise<Response>)(request)
  const text = await response.text()
  if (!text.includes('"text":"5"')) throw new Error(`${name}: HTTP ${response.status} ${text.slice(0, 200)}`)
}
