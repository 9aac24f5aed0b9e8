import { caught } from '@mcpx/testkit'
import { expect, it } from 'vitest'
import { modern, note, reach, result, serve, stream } from './peer.fixture.ts'

it('does not carry on a modern stream that breaks, whatever ids it has, and asks again under another id [C-048, C-049]', async () => {
  let count = 0
  const { url, seen } = await serve((one, response) => {
    if (++count > 1) return result(response, one, { done: true })
    const events = stream(response)
    events.raw('id: 1\nretry: 1\ndata:\n\n')
    events.raw(`id: 2\ndata: ${JSON.stringify(note('notifications/message', { level: 'info', data: 1 }))}\n\n`)
    return events.end()
  })
  const { connection } = await reach(url)
  expect(await caught(() => connection.request('tools/list', modern()))).toMatchObject({
    reason: 'unreachable',
    retryable: true,
  })
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(await connection.request('tools/list', modern())).toEqual({ done: true })
  expect(seen.map(({ method }) => method)).toEqual(['POST', 'POST'])
  for (const { headers } of seen) expect(headers).not.toHaveProperty('last-event-id')
  expect(new Set(seen.map(({ message }) => message.id)).size).toBe(2)
})
