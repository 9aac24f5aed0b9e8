/** The state of an unfinished call: it is for the caller and the call that it was sealed for, and for nobody else. */

import type { Client } from '@mcpx/client'
import type { JsonObject } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { textOf } from '../results.ts'

const form = { message: 'Who?', schema: { type: 'object' as const, properties: {} } }

function asking(options = {}) {
  return createServer({ name: 'sealed', version: '1' }, options)
    .tool('t', { input: { type: 'object' } }, async (_args, ctx) => {
      const step = await ctx.step('once', () => 'the secret')
      await ctx.elicit('who', form)
      return step
    })
    .tool('other', { input: { type: 'object' } }, () => 'x')
}

const params = { name: 't', arguments: { a: 1 } }
const answered = { inputResponses: { who: { action: 'decline' } } }
const ada = { subject: 'ada', scopes: [] }
const capabilities = { elicitation: {} }

/** A call that came back with a question, and with its state. */
async function begin(client: Pick<Client, 'request'>): Promise<{ requestState: string }> {
  const result = await client.request('tools/call', params, { input: 'pass' })
  if (result.resultType !== 'input_required') throw new Error(`The call is finished: ${textOf(result)}`)
  expect(result).toMatchObject({ requestState: expect.stringMatching(/.{32}/), inputRequests: { who: {} } })
  return result as { requestState: string }
}

export const sealedState: Behaviours = {
  async 'unfinished calls can be carried on by hand, over any connection of the caller'({ connect }) {
    const server = asking()
    const first = await connect(server, { auth: ada, capabilities })
    const unfinished = await begin(first)
    expect(JSON.stringify(unfinished)).not.toContain('the secret')
    const second = await connect(server, { auth: ada, capabilities })
    const { requestState } = unfinished
    expect(textOf(await second.request('tools/call', { ...params, ...answered, requestState }))).toBe('the secret')
  },

  async 'state is refused from another caller, for another call, altered, old, or from another server'({ connect }) {
    const server = asking()
    const first = await connect(server, { auth: ada, capabilities })
    const { requestState } = await begin(first)
    const carryOn = async (changed: JsonObject, to: typeof first) =>
      expect(
        to.request('tools/call', { ...params, ...answered, requestState, ...changed }, { input: 'pass' }),
      ).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('requestState') })
    const bob = await connect(server, { auth: { subject: 'bob', scopes: [] }, capabilities })
    const stranger = await connect(asking(), { auth: ada, capabilities })
    await carryOn({}, bob)
    await carryOn({}, await connect(server, { auth: { ...ada, issuer: 'https://other.example' }, capabilities }))
    await carryOn({}, await connect(server, { capabilities }))
    await carryOn({}, stranger)
    await carryOn({ name: 'other' }, first)
    await carryOn({ arguments: { a: 2 } }, first)
    const at = Math.floor(requestState.length / 2)
    const flipped = requestState[at] === 'A' ? 'B' : 'A'
    await carryOn({ requestState: `${requestState.slice(0, at)}${flipped}${requestState.slice(at + 1)}` }, first)
  },

  async 'servers that share a secret carry on the calls of each other, until the state is too old'({ connect }) {
    const secrets = ['a secret of at least thirty-two characters']
    const first = await connect(asking({ secrets }), { capabilities })
    const { requestState } = await begin(first)
    const second = await connect(asking({ secrets: ['a newer secret of thirty-two characters', ...secrets] }), {
      capabilities,
    })
    const sent = { ...params, ...answered, requestState }
    expect(textOf(await second.request('tools/call', sent))).toBe('the secret')
    const hasty = await connect(asking({ secrets, stateTtl: 1 }), { capabilities })
    const late = await begin(hasty)
    await new Promise((resolve) => setTimeout(resolve, 20))
    await expect(
      hasty.request('tools/call', { ...params, ...answered, requestState: late.requestState }),
    ).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('params.requestState: not valid here') })
  },
}
