import { createServer } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { closeAll, connectLegacyRawClient, connectRawClient } from './raw-client.ts'

afterEach(closeAll)

const able = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
const info = { name: 's', version: '1' }
const FORM = z.object({ n: z.number().int() })

const server = createServer(info)
  .tool('form', {}, async (_, ctx) => ctx.elicit('q', { message: 'm', schema: FORM }))
  .tool('written', {}, async (_, ctx) =>
    ctx.elicit('q', {
      message: 'm',
      schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    }),
  )
  .tool('visit', {}, async (_, ctx) => ctx.openUrl('q', { message: 'm', url: 'https://example.com/pay' }))
  .tool('roots', {}, async (_, ctx) => ctx.roots('q'))
  .tool('sample', {}, async (_, ctx) => ctx.sample('q', { messages: [], maxTokens: 1 }))

/** Returns what the tool received in each era for this answer of the client. */
async function outcomes(name: string, answer: object): Promise<unknown[]> {
  const inputResponses = { q: answer }
  const modern = await connectRawClient(server).call('tools/call', { name, inputResponses }, able)
  const client = await connectLegacyRawClient(server, '2025-11-25', { answer: () => answer, capabilities: able })
  const older = await client.ask('tools/call', { name })
  return [modern, older].map(({ result }) => {
    const [block] = (result?.content ?? []) as { text: string }[]
    return result?.isError === true ? 'failed' : JSON.parse(block?.text ?? 'null')
  })
}

describe('an answer of the user', () => {
  it.each([
    ['form', { action: 'accept', content: { n: 1 } }],
    ['form', { action: 'decline' }],
    ['form', { action: 'cancel' }],
    ['visit', { action: 'accept' }],
    ['visit', { action: 'decline' }],
    ['visit', { action: 'cancel' }],
  ])('to a %s reaches the tool: %j [S-233]', async (name, answer) => {
    expect(await outcomes(name, answer)).toEqual([answer, answer])
  })

  it('may be missing: the tool does not continue [S-233]', async () => {
    const client = connectRawClient(server)
    for (let round = 0; round < 3; round++) {
      const { result } = await client.call('tools/call', { name: 'form', inputResponses: {} }, able)
      expect(result?.resultType).toBe('input_required')
    }
  })

  it.each(['form', 'written'])('is validated against the %s and requested again [S-236]', async (name) => {
    for (const content of [{}, { n: 'x' }, { n: 1.5 }, undefined]) {
      const inputResponses = { q: { action: 'accept', ...(content && { content }) } }
      const { result } = await connectRawClient(server).call('tools/call', { name, inputResponses }, able)
      expect(result?.resultType).toBe('input_required')
    }
    let requestsOf = 0
    const answer = () => ({ action: 'accept', content: { n: requestsOf++ < 1 ? 'x' : 3 } })
    const client = await connectLegacyRawClient(server, '2025-11-25', { answer, capabilities: able })
    expect((await client.ask('tools/call', { name })).result?.content).toMatchObject([
      { text: JSON.stringify({ action: 'accept', content: { n: 3 } }) },
    ])
    expect(requestsOf).toBe(2)
  })
})

describe('a form', () => {
  it.each([
    ['an object in it', z.object({ a: z.object({}) })],
    ['a list of numbers', z.object({ a: z.array(z.number()) })],
    ['a string at its root', z.string()],
  ])('cannot have %s: no input request is sent', async (_, schema) => {
    const nested = createServer(info).tool('t', {}, async (_args, ctx) =>
      ctx.elicit('q', { message: 'm', schema: schema as never }),
    )
    const client = connectRawClient(nested)
    const { result } = await client.call('tools/call', { name: 't' }, able)
    expect(result).toMatchObject({ resultType: 'complete', isError: true })
  })
})

describe('roots', () => {
  it('are requested only if the client declared them [S-250]', async () => {
    expect((await connectRawClient(server).call('tools/call', { name: 'roots' }, able)).result?.inputRequests).toEqual({
      q: { method: 'roots/list' },
    })
    expect((await connectRawClient(server).call('tools/call', { name: 'roots' })).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { roots: {} } },
    })
  })
})
