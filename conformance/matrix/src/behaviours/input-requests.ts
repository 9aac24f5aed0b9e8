/** Input requests of handlers: URL elicitation, sampling, roots, several at once. */

import type { Elicitation, InputRequestOrigin } from '@mcpx/client'
import type { Awaitable, Context, CreateMessageRequestParams, ElicitResult, RequestedSchema } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { waitForTasks } from '@mcpx/testing'
import { expect } from 'vitest'
import * as z from 'zod'
import type { Behaviours } from '../behaviour.ts'
import { deferred } from '../deferred.ts'
import { errorTextOf, jsonOf, textOf } from '../results.ts'
import { recordNotifications } from '../rig.ts'

const info = { name: 'asking', version: '1' }
const createAsker = (run: (ctx: Context) => Awaitable<unknown>) =>
  createServer(info).tool('t', {}, async (_args, ctx) => JSON.stringify((await run(ctx)) ?? null))

const name = z.object({ name: z.string().min(2) })
const accept = (content: ElicitResult['content']): ElicitResult => ({ action: 'accept', content })
const completion = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Hello' } } as const
const sampleParams = {
  messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }],
  maxTokens: 10,
} satisfies CreateMessageRequestParams

export const inputRequests: Behaviours = {
  async 'a handler sends the user to a URL'({ era, connectOver, open }) {
    const server = createAsker((ctx) => ctx.openUrl('pay', { message: 'Pay', url: 'https://example.com/pay' }))
    const asks: unknown[] = []
    const onElicit = ({ signal: _, ...ask }: Elicitation) => {
      asks.push(ask)
      return { action: 'accept' } as const
    }
    const { recording, notifications } = recordNotifications(open(server).connector)
    const client = await connectOver(recording, { onElicit })
    expect(jsonOf(await client.callTool('t'))).toEqual({ action: 'accept' })
    await waitForTasks()
    // A legacy server notifies the client when the elicitation is complete.
    const over = era === 'legacy' ? [['notifications/elicitation/complete', expect.stringMatching(/.{20}/)]] : []
    expect(notifications.map(({ method, params }) => [method, params?.elicitationId])).toEqual(over)
    expect(asks).toMatchObject([
      { mode: 'url', message: 'Pay', url: 'https://example.com/pay', server: { name: 'asking' } },
    ])
  },

  async 'a handler requests a completion of the client’s model'({ connect }) {
    const server = createAsker((ctx) => ctx.sample('write', sampleParams))
    const seen: unknown[] = []
    const onSample = (params: CreateMessageRequestParams, { server }: InputRequestOrigin) => {
      seen.push(params, server?.name)
      return completion
    }
    const client = await connect(server, { onSample })
    expect(jsonOf(await client.callTool('t'))).toEqual(completion)
    expect(seen).toEqual([sampleParams, 'asking'])
  },

  async 'a sampling request offers tools, and the model uses one'({ connect }) {
    const tools = [{ name: 'look', inputSchema: { type: 'object' as const } }]
    const toolUse = { type: 'tool_use' as const, id: '1', name: 'look', input: { at: 'x' } }
    const server = createAsker((ctx) =>
      ctx.sample('write', { ...sampleParams, tools, toolChoice: { mode: 'required' } }),
    )
    const seen: unknown[] = []
    const onSample = (params: CreateMessageRequestParams) => {
      seen.push(params.tools?.[0]?.name, params.toolChoice)
      return { role: 'assistant' as const, model: 'm', content: [toolUse], stopReason: 'toolUse' }
    }
    const client = await connect(server, { onSample, sampling: { tools: true } })
    expect(jsonOf(await client.callTool('t'))).toMatchObject({ content: [toolUse], stopReason: 'toolUse' })
    expect(seen).toEqual(['look', { mode: 'required' }])
  },

  async 'a handler requests the roots of the client'({ connect }) {
    const server = createAsker((ctx) => ctx.roots())
    let folders = [{ uri: 'file:///a', name: 'A' }]
    const client = await connect(server, { roots: () => folders })
    expect(jsonOf(await client.callTool('t'))).toEqual(folders)
    folders = [{ uri: 'file:///b', name: 'B' }]
    await client.notifyRootsChanged()
    expect(jsonOf(await client.callTool('t'))).toEqual(folders)
  },

  async 'several input requests are sent at once, without those that the client does not support'({ connect }) {
    const schema: RequestedSchema = { type: 'object', properties: { a: { type: 'string' } } }
    const server = createAsker(async (ctx) => {
      const answers = await ctx.ask({
        folders: { method: 'roots/list' },
        completion: { method: 'sampling/createMessage', params: sampleParams },
        form: { method: 'elicitation/create', params: { mode: 'form', message: 'A', requestedSchema: schema } },
      })
      return Object.keys(answers).sort()
    })
    const client = await connect(server, { roots: [], onSample: () => completion })
    expect(jsonOf(await client.callTool('t'))).toEqual(['completion', 'folders'])
  },

  async 'a client without a capability gets an error that names it'({ connect, era }) {
    const server = createAsker((ctx) => ctx.roots())
    const client = await connect(server)
    const call = client.callTool('t')
    if (era === 'legacy') {
      expect(errorTextOf(await call)).toBe('The client cannot be asked. The client must declare: roots')
    } else await expect(call).rejects.toMatchObject({ code: -32021, data: { requiredCapabilities: { roots: {} } } })
  },

  async 'a step runs once, although the call returns input requests several times'({ connect }) {
    let steps = 0
    const server = createAsker(async (ctx) => {
      const first = await ctx.step('order', () => ({ order: ++steps }))
      const a = await ctx.elicit('a', { message: 'A?', schema: name })
      const again = await ctx.step('order', () => ({ order: ++steps }))
      const b = await ctx.elicit('b', { message: 'B?', schema: name })
      return [first, again, a.content?.name, b.content?.name]
    })
    const asked: string[] = []
    const onElicit = ({ message }: Elicitation) => {
      asked.push(message)
      return accept({ name: `for ${message}` })
    }
    const client = await connect(server, { onElicit })
    const order = { order: 1 }
    expect(jsonOf(await client.callTool('t'))).toEqual([order, order, 'for A?', 'for B?'])
    expect(asked).toEqual(['A?', 'B?'])
    expect(steps).toBe(1)
  },

  async 'each key is requested once per call'({ connect }) {
    const faults: unknown[] = []
    const server = createServer(info, { onError: (error) => void faults.push(error) })
      .tool('t', {}, async (_args, ctx) => JSON.stringify([await ctx.roots(), await ctx.roots('others')]))
      .tool('twice', {}, async (_args, ctx) => JSON.stringify([await ctx.roots(), await ctx.roots()]))
    let asked = 0
    const roots = () => {
      asked += 1
      return [{ uri: `file:///${asked}` }]
    }
    const client = await connect(server, { roots })
    const of = (count: number) => [{ uri: `file:///${count}` }]
    expect(jsonOf(await client.callTool('t'))).toEqual([of(1), of(2)])
    expect(jsonOf(await client.callTool('t'))).toEqual([of(3), of(4)])
    // Using a key twice in one run is an error of the handler, because the call would never end.
    expect(await client.callTool('twice')).toMatchObject({ isError: true })
    expect(faults.map(String)).toEqual([
      expect.stringMatching(/^QuestionError: Question "roots": the key was already used/),
    ])
  },

  async 'prompts and resources can send input requests'({ connect }) {
    const ask = async (ctx: Context) => (await ctx.elicit('who', { message: 'Who?', schema: name })).content?.name ?? ''
    const server = createServer(info)
      .prompt('p', {}, (_args, ctx) => ask(ctx))
      .resource('note://a', {}, (_variables, ctx) => ask(ctx))
    const client = await connect(server, { onElicit: () => accept({ name: 'Ada' }) })
    expect(await client.getPrompt('p')).toMatchObject({ messages: [{ content: { text: 'Ada' } }] })
    expect(await client.readResource('note://a')).toMatchObject({ contents: [{ text: 'Ada' }] })
  },

  async 'a call option answers the input requests of the call'({ connect }) {
    const server = createAsker((ctx) => ctx.roots())
    const client = await connect(server, { capabilities: { roots: {} } })
    const roots = [{ uri: 'file:///own' }]
    const result = await client.callTool('t', {}, { onInputRequest: () => ({ roots }) })
    expect(jsonOf(result)).toEqual(roots)
  },

  async 'the timeout of a call does not include the time of the user'({ connect }) {
    const server = createAsker((ctx) => ctx.elicit('who', { message: 'Who?', schema: name }))
    const onElicit = async () => {
      await new Promise((resolve) => setTimeout(resolve, 450))
      return accept({ name: 'Ada' })
    }
    const client = await connect(server, { onElicit })
    const result = await client.callTool('t', {}, { timeout: 300 })
    expect(jsonOf(result).content).toEqual({ name: 'Ada' })
  },

  async 'cancelling a call cancels its input request'({ connect, waitFor }) {
    const server = createAsker((ctx) => ctx.elicit('who', { message: 'Who?', schema: name }))
    const stop = new AbortController()
    const aborted = deferred<unknown>()
    const onElicit = ({ signal }: Elicitation) => {
      signal.addEventListener('abort', () => aborted.resolve(signal.reason))
      stop.abort()
      return new Promise<ElicitResult>(() => {})
    }
    const client = await connect(server, { onElicit })
    const outcome = await client.callTool('t', {}, { signal: stop.signal }).then(textOf, (error: unknown) => error)
    expect(outcome).toMatchObject({ name: 'ConnectionError', reason: 'cancelled' })
    expect(await waitFor('the abort signal of the input request', aborted.promise)).toMatchObject({
      name: 'ConnectionError',
      reason: 'cancelled',
    })
  },
}
