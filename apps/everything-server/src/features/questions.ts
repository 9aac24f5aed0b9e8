/** Input requests during a call. A modern client receives them as the result of the call and calls again with the answers
 * and the sealed state. A legacy client receives a request while the call is running.
 */

import type { Context, ElicitResult, InputRequest, ListRootsResult } from '@mcpx/protocol'
import { inputRequired, type Server } from '@mcpx/server'
import { z } from 'zod'
import { textOf } from './sampling.ts'

const name = z.object({ name: z.string() })
const description = 'Sends an input request during the call'

export function addInputRequests(server: Server): void {
  addSingleRequests(server)
  addSeveralRequests(server)
  server.prompt(
    'test_input_required_result_prompt',
    { description: 'A prompt that sends an input request' },
    async (_, ctx) => {
      const answer = await ctx.elicit('user_context', {
        message: 'What context should the prompt use?',
        schema: z.object({ context: z.string() }),
      })
      return answer.action === 'accept' ? `Use this context: ${answer.content.context}` : 'Use no context.'
    },
  )
}

function addSingleRequests(server: Server): void {
  server
    .tool('test_input_required_result_elicitation', { description }, async (_, ctx) => {
      const answer = await ctx.elicit('user_name', { message: 'What is your name?', schema: name })
      return `Hello, ${answer.action === 'accept' ? answer.content.name : 'stranger'}!`
    })
    .tool('test_input_required_result_sampling', { description }, async (_, ctx) =>
      textOf(await ctx.sample('capital_question', capitalRequest)),
    )
    .tool('test_input_required_result_list_roots', { description }, async (_, ctx) => {
      const roots = await ctx.roots('client_roots')
      return `Roots: ${roots.map(({ uri }) => uri).join(', ')}`
    })
    .tool('test_streaming_elicitation', { description: 'Sends no input request' }, () => 'No input was needed.')
    .tool('ask_by_hand', { description: 'Returns the input request and the request state by hand' }, (_, ctx) => {
      const answer = ctx.inputResponses?.colour as ElicitResult | undefined
      if (answer === undefined) return inputRequired({ colour: colourRequest }, 'asked for a colour')
      return `${answer.action}: ${JSON.stringify(answer.content ?? {})} (${ctx.requestState})`
    })
}

function addSeveralRequests(server: Server): void {
  server
    .tool('test_input_required_result_request_state', { description }, async (_, ctx) => {
      const ticket = await ctx.step('ticket', () => crypto.randomUUID())
      await ctx.elicit('confirm', { message: 'Please confirm', schema: z.object({ ok: z.boolean() }) })
      return `state-ok: ticket ${ticket}`
    })
    .tool('test_input_required_result_tampered_state', { description }, async (_, ctx) => {
      await ctx.step('ticket', () => crypto.randomUUID())
      await ctx.elicit('confirm', { message: 'Please confirm', schema: z.object({ ok: z.boolean() }) })
      return 'state-ok'
    })
    .tool('test_input_required_result_multiple_inputs', { description }, async (_, ctx) => {
      await ctx.step('started', () => Date.now())
      const { user_name, client_roots } = await ctx.ask({
        user_name: nameRequest,
        greeting: { method: 'sampling/createMessage', params: greetingRequest },
        client_roots: { method: 'roots/list' },
      })
      const { content } = user_name as ElicitResult
      return `Hello, ${content?.name}! You work in ${(client_roots as ListRootsResult).roots.length} folders.`
    })
    .tool('test_input_required_result_multi_round', { description }, askTwice)
    .tool('test_input_required_result_capabilities', { description }, async (_, ctx) => {
      const answers = await ctx.ask({
        user_name: nameRequest,
        greeting: { method: 'sampling/createMessage', params: greetingRequest },
        client_roots: { method: 'roots/list' },
      })
      return `Could ask for ${Object.keys(answers).join(', ')}.`
    })
}

async function askTwice(_: unknown, ctx: Context): Promise<string> {
  await ctx.step('started', () => Date.now())
  const first = await ctx.elicit('step1', { message: 'What is your name?', schema: name })
  const second = await ctx.elicit('step2', {
    message: 'Which colour do you like?',
    schema: z.object({ color: z.string() }),
  })
  if (first.action !== 'accept' || second.action !== 'accept') return 'The user declined.'
  return `${first.content.name} likes ${second.content.color}.`
}

const capitalRequest = {
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'What is the capital of France?' } }],
  maxTokens: 100,
}

const greetingRequest = {
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Write a greeting.' } }],
  maxTokens: 50,
}

const nameRequest: InputRequest = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'What is your name?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
}

const colourRequest: InputRequest = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Which colour?',
    requestedSchema: { type: 'object', properties: { colour: { type: 'string', enum: ['red', 'blue'] } } },
  },
}
