import { catchError } from '@mcpx/testing'
import { expect, it } from 'vitest'
import { modern, note, reach, result, serve, stream } from './peer.fixture.ts'

it('a cut modern stream is not resumed, and a retry has another id [C-048, C-049]', async () => {
  let count = 0
  const { url, seen } = await serve((one, response) => {
    if (++count > 1) return result(response, one, { done: true })
    const events = stream(response)
    events.raw('id: 1\nretry: 1\ndata:\n\n')
    events.raw(`id: 2\ndata: ${JSON.stringify(note('notifications/message', { level: 'info', data: 1 }))}\n\n`)
    return events.end()
  })
  const { connection } = await reach(url)
  expect(await catchError(() => connection.request('tools/list', modern()))).toMatchObject({
    reason: 'unreachable',
    retryable: true,
  })
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(await connection.request('tools/list', modern())).toEqual({ done: true })
  expect(seen.map(({ method }) => method)).toEqual(['POST', 'POST'])
  for (const { headers } of seen) expect(headers).not.toHaveProperty('last-event-id')
  expect(new Set(seen.map(({ message }) => message.id)).size).toBe(2)
})

it('the responder receives notifications beside a response, and excess ones are dropped', async () => {
  const MOST = 10_000
  const { url } = await serve((one, response) => {
    const events = stream(response)
    const many = `data: ${JSON.stringify(note('notifications/message', { level: 'info', data: 1 }))}\n\n`
    events.raw(many.repeat(MOST + 2))
    events.event({ jsonrpc: '2.0', id: one.message.id, result: {} })
    events.end()
  })
  let signal: AbortSignal | undefined
  const { connection, problems, heard } = await reach(
    url,
    {},
    {
      respond(_message, exchange) {
        signal = exchange.signal
        return new Promise(() => {})
      },
    },
  )
  await connection.request('tools/list', modern())
  expect(heard).toHaveLength(MOST)
  const message = `notifications/message was dropped: ${MOST} notifications are being handled already`
  expect(problems).toMatchObject([
    { reason: 'limit', message },
    { reason: 'limit', message },
  ])
  expect(signal?.aborted).toBe(false)
  await connection.close()
  expect(signal?.aborted).toBe(true)
})

it('an error of the responder is reported, and the connection continues', async () => {
  const { url } = await serve((one, response) => {
    const events = stream(response)
    for (const data of [1, 2]) events.event(note('notifications/message', { level: 'info', data }))
    events.event({ jsonrpc: '2.0', id: one.message.id, result: {} })
    events.end()
  })
  const respond = () => {
    throw new Error('deaf')
  }
  const { connection, problems, heard } = await reach(url, {}, { respond })
  await connection.request('tools/list', modern())
  expect(heard).toHaveLength(2)
  expect(problems.map((problem) => problem.message)).toEqual(['deaf', 'deaf'])
})
