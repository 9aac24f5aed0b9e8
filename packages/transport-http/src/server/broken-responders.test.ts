import { errorMessage, insufficientScope, type Responder, type ResponseMessage } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { eventsOf, HandWritten, json, modern, openSession, post, postModern, request } from './server.fixture.ts'

const soon = () => new Promise((resolve) => setTimeout(resolve, 1))

/** Answers the handshake, and everything else with this. */
function answering(answer: unknown, speaksFirst: boolean): Responder {
  const hand = new HandWritten()
  return {
    async respond(message, exchange) {
      if (!('id' in message) || message.method === 'initialize') return hand.respond(message, exchange)
      if (speaksFirst) await exchange.notify('notifications/message', {})
      await soon()
      return answer as ResponseMessage
    },
  }
}

const id = 1
const masked = { jsonrpc: '2.0', id, error: { code: -32603, message: expect.any(String) } }
const broken = ['text', 5, [1], { jsonrpc: '2.0', id }, { jsonrpc: '2.0', id, error: null }]

describe.each(broken.map((answer) => [JSON.stringify(answer), answer]))('a responder that answers %s', (_, answer) => {
  it.each(['auto', 'events'] as const)(
    'is reported in both eras, and its client receives an error; responses: %s',
    async (responses) => {
      const problems: Error[] = []
      const app = mcp(answering(answer, false), { responses, onWarning: (problem) => problems.push(problem) })
      expect(await json(await postModern(app, modern('tools/list')))).toEqual(masked)
      const session = await openSession(app, undefined)
      expect(await json(await post(app, request('tools/list'), { 'mcp-session-id': session }))).toEqual(masked)
      expect(problems).toHaveLength(2)
    },
  )

  it('is reported if a stream was opened before', async () => {
    const problems: Error[] = []
    const app = mcp(answering(answer, true), { onWarning: (problem) => problems.push(problem) })
    const events = eventsOf(await postModern(app, modern('tools/list')))
    expect((await events.rest()).at(-1)).toEqual(masked)
    expect(problems).toHaveLength(1)
  })

  it('is reported with HTTP+SSE', async () => {
    const problems: Error[] = []
    const app = mcp(answering(answer, false), { sse: '/sse', onWarning: (problem) => problems.push(problem) })
    const events = eventsOf(await app.request('/sse'))
    const url = (await events.next())?.data ?? ''
    const headers = { 'content-type': 'application/json' }
    await app.request(url, { method: 'POST', headers, body: JSON.stringify(request('tools/list')) })
    expect(await events.message()).toEqual(masked)
    expect(problems).toHaveLength(1)
    await events.cancel()
  })
})

describe('a guard that throws in its challenge', () => {
  it('is reported, and the caller receives a response', async () => {
    const problems: Error[] = []
    const authenticate = Object.assign(() => undefined, {
      refuse: (): Response => {
        throw new Error('no challenge')
      },
    })
    const lacking = errorMessage(id, insufficientScope(['write']))
    const app = mcp(answering(lacking, false), { authenticate, onWarning: (problem) => problems.push(problem) })
    const response = await postModern(app, modern('tools/list'))
    expect([response.status, problems.map(({ message }) => message)]).toEqual([500, ['no challenge']])
  })
})
