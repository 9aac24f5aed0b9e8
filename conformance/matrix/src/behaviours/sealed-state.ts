/** The sealed state of unfinished calls, which is valid only for the same caller and the same call. */

import type { Client } from '@mcpx/client'
import type { JsonObject } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { textOf } from '../results.ts'

const form = { message: 'Who?', schema: { type: 'object' as const, properties: {} } }

function createSealedServer(options = {}) {
  return createServer({ name: 'sealed', version: '1' }, options)
    .tool('t', { input: { type: 'object' } }, async (_args, ctx) => {
      const step = await ctx.step('once', () => 'the secret')
      await ctx.elicit('who', form)
      return step
    })
    .tool('other', { input: { type: 'object' } }, () => 'x')
}

const params = { name: 't', arguments: { a: 1 } }
const answers = { inputResponses: { who: { action: 'decline' } } }
const ada = { subject: 'ada', scopes: [] }
const capabilities = { elicitation: {} }

/** Makes a call that returns an input request and its state. */
async function begin(client: Pick<Client, 'request'>): Promise<{ requestState: string }> {
  const result = await client.request('tools/call', params, { input: 'pass' })
  if (result.resultType !== 'input_required') throw new Error(`The call is finished: ${textOf(result)}`)
  expect(result).toMatchObject({ requestState: expect.stringMatching(/.{32}/), inputRequests: { who: {} } })
  return result as { requestState: string }
}

export const sealedState: Behaviours = {
  async 'an unfinished call can be continued on any connection of the caller'({ connect }) {
    const server = createSealedServer()
    const first = await connect(server, { auth: ada, capabilities })
    const unfinished = await begin(first)
    expect(JSON.stringify(unfinished)).not.toContain('the secret')
    const second = await connect(server, { auth: ada, capabilities })
    const { requestState } = unfinished
    expect(textOf(await second.request('tools/call', { ...params, ...answers, requestState }))).toBe('the secret')
  },

  async 'request state is rejected from another caller, for another call, altered, or from another server'({
    connect,
  }) {
    const server = createSealedServer()
    const first = await connect(server, { auth: ada, capabilities })
    const { requestState } = await begin(first)
    const expectRejected = async (changed: JsonObject, to: typeof first) =>
      expect(
        to.request('tools/call', { ...params, ...answers, requestState, ...changed }, { input: 'pass' }),
      ).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('requestState') })
    const bob = await connect(server, { auth: { subject: 'bob', scopes: [] }, capabilities })
    const otherServer = await connect(createSealedServer(), { auth: ada, capabilities })
    await expectRejected({}, bob)
    await expectRejected({}, await connect(server, { auth: { ...ada, issuer: 'https://other.example' }, capabilities }))
    await expectRejected({}, await connect(server, { capabilities }))
    await expectRejected({}, otherServer)
    await expectRejected({ name: 'other' }, first)
    await expectRejected({ arguments: { a: 2 } }, first)
    const at = Math.floor(requestState.length / 2)
    const flipped = requestState[at] === 'A' ? 'B' : 'A'
    await expectRejected({ requestState: `${requestState.slice(0, at)}${flipped}${requestState.slice(at + 1)}` }, first)
  },

  async 'servers that share a secret continue each other’s calls until the state expires'({ connect }) {
    const secrets = ['a secret of at least thirty-two characters']
    const first = await connect(createSealedServer({ secrets }), { capabilities })
    const { requestState } = await begin(first)
    const second = await connect(
      createSealedServer({ secrets: ['a newer secret of thirty-two characters', ...secrets] }),
      {
        capabilities,
      },
    )
    const sent = { ...params, ...answers, requestState }
    expect(textOf(await second.request('tools/call', sent))).toBe('the secret')
    const shortLived = await connect(createSealedServer({ secrets, stateTtl: 1 }), { capabilities })
    const late = await begin(shortLived)
    await new Promise((resolve) => setTimeout(resolve, 20))
    await expect(
      shortLived.request('tools/call', { ...params, ...answers, requestState: late.requestState }),
    ).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('params.requestState: not valid') })
  },
}
