import type { Context } from '@mcpx/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { approve, createServer, elicit, openUrl, QuestionError, type ServerOptions } from './index.ts'
import { type Answers, closeAll, connect } from './peers.fixture.ts'

afterEach(closeAll)

const row = z.object({ row: z.number().int().max(40) })
const URL_FORM = { message: 'Pay here', url: 'https://example.com/pay' }

describe.each(['2025-11-25', '2026-07-28'] as const)(
  'revision %s: a question that the client does not support',
  (revision) => {
    async function run(
      tool: (ctx: Context) => unknown,
      { declared = {}, answers = {}, ...options }: ServerOptions & { declared?: object; answers?: Answers } = {},
    ) {
      const faults: unknown[] = []
      const server = createServer(
        { name: 's', version: '1' },
        { onError: (error) => void faults.push(error), ...options },
      )
      server.tool('it', {}, async (_, ctx) => (await tool(ctx)) as never)
      const peer = await connect(server, revision, answers, declared)
      const result = await peer.call('tools/call', { name: 'it' })
      return { ...result, text: result.content?.[0]?.text, faults }
    }

    const ask = (otherwise: unknown) => async (ctx: Context) => {
      const seat = await ctx.elicit('seat', { message: 'Which row?', schema: row, otherwise: otherwise as never })
      return seat
    }

    it('is answered by `otherwise`', async () => {
      const { text, isError } = await run(ask({ action: 'accept', content: { row: 1 } }))
      expect(text).toBe('{"action":"accept","content":{"row":1}}')
      expect(isError).toBeUndefined()
      expect((await run(ask({ action: 'decline' }))).text).toBe('{"action":"decline"}')
      const visited = await run((ctx) => ctx.openUrl('pay', { ...URL_FORM, otherwise: { action: 'accept' } }))
      expect(visited.text).toBe('{"action":"accept"}')
    })

    it('ends the call with a message for the model if `otherwise` is a string', async () => {
      const { text, isError, faults } = await run(ask('Ask the user for a row, and call again with it.'))
      expect(text).toBe('Ask the user for a row, and call again with it.')
      expect(isError).toBe(true)
      expect(faults).toEqual([])
      const visit = await run((ctx) =>
        ctx.openUrl('pay', { ...URL_FORM, otherwise: 'Open https://example.com/pay first.' }),
      )
      expect(visit).toMatchObject({ text: 'Open https://example.com/pay first.', isError: true })
    })

    it('is refused with another `otherwise` than an outcome or a message, also if the client supports the question', async () => {
      const answers = { 'elicitation/create': () => ({ action: 'accept', content: { row: 7 } }) }
      const wrong: [unknown, string][] = [
        [5, 'got number'],
        [() => 'later', 'got function'],
        [{ row: 1 }, 'got an object without'],
        [{ action: 'yes' }, 'got the action "yes"'],
        [{ action: 'accept' }, 'got "accept" without content'],
        ['', 'got an empty string'],
      ]
      for (const [otherwise, got] of wrong) {
        for (const client of [{}, { answers, declared: { elicitation: { form: {} } } }]) {
          const { isError, faults } = await run(ask(otherwise), client)
          expect(isError).toBe(true)
          expect(faults[0]).toBeInstanceOf(QuestionError)
          expect(String(faults[0])).toContain('elicit: otherwise: expected ')
          expect(String(faults[0])).toContain(got)
        }
      }
      const visit = (otherwise: unknown) => (ctx: Context) =>
        ctx.openUrl('pay', { ...URL_FORM, otherwise: otherwise as never })
      expect(String((await run(visit(5))).faults[0])).toContain('openUrl: otherwise: expected ')
    })

    it('is asked if the client supports it', async () => {
      const answers = { 'elicitation/create': () => ({ action: 'accept', content: { row: 7 } }) }
      const declared = { elicitation: { form: {} } }
      const onUnsupported = { elicit: () => 'never' }
      const { text } = await run(ask({ action: 'decline' }), { declared, answers, onUnsupported })
      expect(text).toBe('{"action":"accept","content":{"row":7}}')
    })

    it('is answered by `onUnsupported` of the server', async () => {
      const questions: unknown[] = []
      const elicit = (question: object) => {
        questions.push(question)
        return { action: 'accept' as const, content: { row: 3 } }
      }
      const seat = await run(ask(undefined), { onUnsupported: { elicit } })
      expect(seat.text).toBe('{"action":"accept","content":{"row":3}}')
      expect((await run(ask({ action: 'cancel' }), { onUnsupported: { elicit } })).text).toBe('{"action":"cancel"}')
      await run((ctx) => ctx.openUrl('pay', URL_FORM), { onUnsupported: { elicit } })
      expect(questions).toMatchObject([
        { key: 'seat', mode: 'form', message: 'Which row?', requestedSchema: { required: ['row'] } },
        { key: 'pay', mode: 'url', url: 'https://example.com/pay' },
      ])
    })

    it('ends the call with the message of `onUnsupported`', async () => {
      const onUnsupported: ServerOptions['onUnsupported'] = { elicit: ({ message }) => `Ask the user: ${message}` }
      expect(await run(ask(undefined), { onUnsupported })).toMatchObject({
        text: 'Ask the user: Which row?',
        isError: true,
      })
    })

    it('reports an answer of `onUnsupported` that does not fit the form', async () => {
      for (const content of [{ row: 'x' }, { row: 99 }, {}]) {
        const elicit = () => ({ action: 'accept' as const, content: content as { row: number } })
        const { isError, faults } = await run(ask(undefined), { onUnsupported: { elicit } })
        expect(isError).toBe(true)
        expect(faults[0]).toBeInstanceOf(QuestionError)
        expect(String(faults[0])).toContain(
          'Question "seat": onUnsupported.elicit returned an invalid response: content.row',
        )
      }
      const { faults } = await run(ask(undefined), { onUnsupported: { elicit: () => ({ action: 'yes' }) as never } })
      expect(String(faults[0])).toContain('returned an invalid response: response.action')
    })

    it('fails with the missing capability without either, and if `onUnsupported` returns undefined', async () => {
      const without = await run(ask(undefined))
      const undecided = await run(ask(undefined), { onUnsupported: { elicit: () => undefined } })
      for (const result of [without, undecided]) expect(JSON.stringify(result)).toContain('elicitation')
    })

    it('is answered beside others that the client supports', async () => {
      const answers = { 'elicitation/create': () => ({ action: 'accept', content: { row: 7 } }) }
      const { text } = await run(
        async (ctx) => {
          const form = elicit({ message: 'Which row?', schema: row })
          const { seat, paid } = await ctx.ask({
            seat: form,
            paid: openUrl({ ...URL_FORM, otherwise: { action: 'decline' } }),
          })
          return [seat, paid]
        },
        { answers, declared: { elicitation: { form: {} } } },
      )
      expect(text).toBe('[{"action":"accept","content":{"row":7}},{"action":"decline"}]')
    })

    it('has a key that can be used once in a run', async () => {
      const { faults } = await run(async (ctx) => {
        await ask({ action: 'cancel' })(ctx)
        return ask({ action: 'cancel' })(ctx)
      })
      expect(String(faults[0])).toContain('Question "seat": the key was already used')
    })

    it('is never answered for `approve`', async () => {
      const onUnsupported = { elicit: () => ({ action: 'accept' as const }) }
      const server = createServer({ name: 's', version: '1' }, { onUnsupported })
        .use(approve())
        .tool('it', {}, () => 'ran')
      const peer = await connect(server, revision, {}, {})
      const result = await peer.call('tools/call', { name: 'it' })
      expect(JSON.stringify(result)).not.toContain('ran')
      expect(JSON.stringify(result)).toContain('elicitation')
    })
  },
)

it('refuses members of `onUnsupported` that do not exist', () => {
  expect(() => createServer({ name: 's', version: '1' }, { onUnsupported: { elict: () => '' } as object })).toThrow(
    'createServer, onUnsupported: there is no option "elict"; did you mean "elicit"?',
  )
})
