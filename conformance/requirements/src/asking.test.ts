import { createServer } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { closeAll, connectLegacy, connectWire } from './wire.ts'

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

/** What the tool got, in each era, when the client gives this answer. */
async function outcomes(name: string, answer: object): Promise<unknown[]> {
  const inputResponses = { q: answer }
  const modern = await connectWire(server).call('tools/call', { name, inputResponses }, able)
  const wire = await connectLegacy(server, '2025-11-25', { answer: () => answer, capabilities: able })
  const older = await wire.ask('tools/call', { name })
  return [modern, older].map(({ result }) => {
    const [block] = (result?.content ?? []) as { text: string }[]
    return result?.isError === true ? 'failed' : JSON.parse(block?.text ?? 'null')
  })
}

describe('what the user answers', () => {
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

  it('may never come: the tool is not gone on with [S-233]', async () => {
    const wire = connectWire(server)
    for (let round = 0; round < 3; round++) {
      const { result } = await wire.call('tools/call', { name: 'form', inputResponses: {} }, able)
      expect(result?.resultType).toBe('input_required')
    }
  })

  it.each(['form', 'written'])('is checked against the %s, and asked for again [S-236]', async (name) => {
    for (const content of [{}, { n: 'x' }, { n: 1.5 }, undefined]) {
      const inputResponses = { q: { action: 'accept', ...(content && { content }) } }
      const { result } = await connectWire(server).call('tools/call', { name, inputResponses }, able)
      expect(result?.resultType).toBe('input_required')
    }
    let asked = 0
    const answer = () => ({ action: 'accept', content: { n: asked++ < 1 ? 'x' : 3 } })
    const wire = await connectLegacy(server, '2025-11-25', { answer, capabilities: able })
    expect((await wire.ask('tools/call', { name })).result?.content).toMatchObject([
      { text: JSON.stringify({ action: 'accept', content: { n: 3 } }) },
    ])
    expect(asked).toBe(2)
  })
})

describe('a form', () => {
  it.each([
    ['an object in it', z.object({ a: z.object({}) })],
    ['a list of numbers', z.object({ a: z.array(z.number()) })],
    ['a text at its root', z.string()],
  ])('cannot be made of %s: nothing is asked', async (_, schema) => {
    const nested = createServer(info).tool('t', {}, async (_args, ctx) =>
      ctx.elicit('q', { message: 'm', schema: schema as never }),
    )
    const wire = connectWire(nested)
    const { result } = await wire.call('tools/call', { name: 't' }, able)
    expect(result).toMatchObject({ resultType: 'complete', isError: true })
  })
})

describe('roots', () => {
  it('are asked for only where they were declared [S-250]', async () => {
    expect((await connectWire(server).call('tools/call', { name: 'roots' }, able)).result?.inputRequests).toEqual({
      q: { method: 'roots/list' },
    })
    expect((await connectWire(server).call('tools/call', { name: 'roots' })).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { roots: {} } },
    })
  })
})
