/** Middleware: approval, audit, rate limits and timeouts. */

import type { Elicitation } from '@mcpx/client'
import {
  type AuditEntry,
  approve,
  audit,
  createServer,
  RATE_LIMITED,
  rateLimit,
  TIMED_OUT,
  timeout,
} from '@mcpx/server'
import { catchError } from '@mcpx/testing'
import { expect } from 'vitest'
import * as z from 'zod'
import type { Behaviours } from '../behaviour.ts'
import { errorTextOf, textOf } from '../results.ts'

const info = { name: 'around', version: '1' }
const NOT_APPROVED =
  'The call of "drop" was not approved. It did not run; do not try again unless the user asks for it.'
const named = z.object({ name: z.string(), password: z.string().optional() })

function createDropServer() {
  const dropped: string[] = []
  const server = createServer(info)
    .tool('look', { annotations: { readOnlyHint: true } }, () => 'seen')
    .tool('drop', { input: named }, ({ name }) => {
      dropped.push(name)
      return `dropped ${name}`
    })
  return { server, dropped }
}

export const middleware: Behaviours = {
  async 'a middleware sees each request and its result'({ connect }) {
    const seen: string[] = []
    const { server } = createDropServer()
    server.use(async (request, _ctx, next) => {
      seen.push(request.method)
      const result = await next()
      seen.push('done')
      return result
    })
    const client = await connect(server)
    await client.listTools().all()
    await client.callTool('look')
    expect(seen).toEqual(['tools/list', 'done', 'tools/call', 'done'])
  },

  async 'a call that needs approval runs only if the user accepts'({ connect }) {
    const { server, dropped } = createDropServer()
    server.use(approve())
    const messages: string[] = []
    const answers: ('accept' | 'decline')[] = ['accept', 'decline']
    const onElicit = ({ message }: Elicitation) => {
      messages.push(message)
      return { action: answers.shift() ?? ('cancel' as const) }
    }
    const client = await connect(server, { onElicit })
    expect(textOf(await client.callTool('look'))).toBe('seen')
    expect(messages).toEqual([])
    expect(textOf(await client.callTool('drop', { name: 'a' }))).toBe('dropped a')
    expect(errorTextOf(await client.callTool('drop', { name: 'b' }))).toBe(NOT_APPROVED)
    expect(dropped).toEqual(['a'])
    expect(messages).toEqual([expect.stringContaining('"a"'), expect.stringContaining('"b"')])
  },

  async 'two nested approvals are requested one after the other'({ connect }) {
    const { server, dropped } = createDropServer()
    server.use(approve({ message: 'Inner' }))
    const outer = createServer(info)
      .mount('in', server)
      .use(approve({ message: 'Outer' }))
    const messages: string[] = []
    const onElicit = ({ message }: Elicitation) => {
      messages.push(message.split('\n')[0] ?? '')
      return { action: message.startsWith('Outer') ? 'accept' : 'decline' } as const
    }
    const client = await connect(outer, { onElicit })
    expect(errorTextOf(await client.callTool('in.drop', { name: 'a' }))).toBe(NOT_APPROVED)
    expect(messages).toEqual(['Outer', 'Inner'])
    expect(dropped).toEqual([])
  },

  async 'approval can use a custom function, and fails for clients without elicitation'({ connect, era }) {
    const approvedByFunction = createDropServer()
    approvedByFunction.server.use(approve({ ask: ({ arguments: args }) => args?.name === 'a' }))
    const client = await connect(approvedByFunction.server)
    expect(textOf(await client.callTool('drop', { name: 'a' }))).toBe('dropped a')
    expect(errorTextOf(await client.callTool('drop', { name: 'b' }))).toBe(NOT_APPROVED)
    const { server, dropped } = createDropServer()
    const call = (await connect(server.use(approve()))).callTool('drop', { name: 'a' })
    if (era === 'legacy')
      expect(errorTextOf(await call)).toBe('The client cannot be asked. The client must declare: elicitation.form')
    else await expect(call).rejects.toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: {} } } })
    expect(dropped).toEqual([])
  },

  async 'each request adds an audit entry'({ connect }) {
    const entries: AuditEntry[] = []
    const { server } = createDropServer()
    server.use(audit((entry) => void entries.push(entry)))
    const client = await connect(server, {
      clientInfo: { name: 'me', version: '2' },
      auth: { subject: 'ada', scopes: [] },
    })
    expect(textOf(await client.callTool('drop', { name: 'a', password: 'hush' }))).toBe('dropped a')
    expect(errorTextOf(await client.callTool('drop' as string, {}))).toMatch(/^arguments\.name: /)
    await expect(client.callTool('nope')).rejects.toMatchObject({ code: -32602 })
    expect(entries).toMatchObject([
      {
        method: 'tools/call',
        target: 'drop',
        subject: 'ada',
        outcome: 'ok',
        arguments: { name: 'a' },
      },
      { target: 'drop', outcome: 'tool-error' },
      { target: 'nope', outcome: 'error', errorCode: -32602 },
    ])
    expect(JSON.stringify(entries)).not.toContain('hush')
    const me = { name: 'me', version: '2' }
    expect(
      entries.map(({ client }) => client),
      'clients',
    ).toEqual([me, me, me])
  },

  async 'the audit entry of a call that needs input says so'({ connect, era }) {
    const outcomes: string[] = []
    const { server } = createDropServer()
    server.use(audit(({ outcome }) => void outcomes.push(outcome))).use(approve())
    const client = await connect(server, { onElicit: () => ({ action: 'accept' }) })
    expect(textOf(await client.callTool('drop', { name: 'a' }))).toBe('dropped a')
    expect(outcomes).toEqual(era === 'legacy' ? ['ok'] : ['input-required', 'ok'])
  },

  async 'the audit distinguishes declined calls from failed ones'({ connect, era }) {
    const outcomes: string[] = []
    const { server } = createDropServer()
    server.use(audit(({ outcome }) => void outcomes.push(outcome))).use(approve())
    const client = await connect(server, { onElicit: () => ({ action: 'decline' }) })
    expect(errorTextOf(await client.callTool('drop', { name: 'a' }))).toBe(NOT_APPROVED)
    expect(outcomes).toEqual(era === 'legacy' ? ['declined'] : ['input-required', 'declined'])
  },

  async 'a rate limit rejects only the caller that exceeds it'({ connect }) {
    const { server } = createDropServer()
    server.use(rateLimit({ limit: 2, window: 60_000 }))
    const ada = await connect(server, { auth: { subject: 'ada', scopes: [] } })
    const bob = await connect(server, { auth: { subject: 'bob', scopes: [] } })
    const texts = []
    for (let times = 0; times < 2; times += 1) texts.push(textOf(await ada.callTool('look')))
    expect(texts).toEqual(['seen', 'seen'])
    expect(errorTextOf(await ada.callTool('look'))).toMatch(/^Too many requests: at most 2 in 60 s\./)
    const refusal = await catchError(() => ada.listTools().all())
    expect(refusal).toMatchObject({ code: RATE_LIMITED, data: { retryAfterMs: expect.any(Number) } })
    const { retryAfterMs } = (refusal as { data: { retryAfterMs: number } }).data
    expect(retryAfterMs).toBeGreaterThan(50_000)
    expect(retryAfterMs).toBeLessThanOrEqual(60_000)
    expect(textOf(await bob.callTool('look'))).toBe('seen')
  },

  async 'a handler that exceeds the timeout gets an error response'({ connect }) {
    const stopped: unknown[] = []
    const server = createServer(info)
      .tool('slow', {}, (_args, ctx) => {
        ctx.signal.addEventListener('abort', () => stopped.push('tool'))
        return new Promise(() => {})
      })
      .prompt('slow', {}, () => new Promise(() => {}))
      .use(timeout(20))
    const client = await connect(server)
    expect(errorTextOf(await client.callTool('slow'))).toContain('20 ms')
    await expect(client.getPrompt('slow')).rejects.toMatchObject({ code: TIMED_OUT, data: { timeoutMs: 20 } })
    expect(stopped).toEqual(['tool'])
  },

  async 'the timeout of a handler does not include the time of the user'({ connect }) {
    const server = createServer(info)
      .tool('ask', {}, async (_args, ctx) => {
        const answer = await ctx.elicit('who', { message: 'Who?', schema: named })
        return answer.content?.name
      })
      .use(timeout(300))
    const onElicit = async () => {
      await new Promise((resolve) => setTimeout(resolve, 450))
      return { action: 'accept', content: { name: 'Ada' } } as const
    }
    const client = await connect(server, { onElicit })
    expect(textOf(await client.callTool('ask'))).toBe('Ada')
  },
}
