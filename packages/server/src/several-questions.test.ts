import type {
  CreateMessageResult,
  ElicitOutcome,
  ElicitResult,
  InputResponse,
  ListRootsResult,
  Root,
} from '@mcpx/protocol'
import { eraOf, REVISIONS } from '@mcpx/protocol'
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { elicit, openUrl, QuestionError, roots, sample } from './index.ts'
import { type Answers, closeAll, connect, oneTool, text } from './peers.fixture.ts'

afterEach(closeAll)

const seat = z.object({ row: z.coerce.number().int().max(40) })
const form = { type: 'object', properties: { name: { type: 'string' } } } as const
const message = { role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' }
const answers: Answers = {
  'elicitation/create': ({ mode, message }) =>
    mode === 'url' || String(message).startsWith('Sure')
      ? { action: 'accept' }
      : { action: 'accept', content: { row: 3 } },
  'sampling/createMessage': () => message,
  'roots/list': () => ({ roots: [{ uri: 'file:///a' }] }),
}

/** Revisions in which everything can be asked. */
const newest = REVISIONS.filter((revision) => revision >= '2025-11-25')

describe.each(newest)('several input requests in one round of %s', (revision) => {
  it('have answers of their own types', async () => {
    let rounds = 0
    const server = oneTool(async (_args, ctx) => {
      rounds += 1
      const got = await ctx.ask({
        seat: elicit({ message: 'Seat?', schema: seat }),
        visit: openUrl({ message: 'Pay', url: 'https://example.com' }),
        words: sample({ messages: [], maxTokens: 9 }),
        places: roots(),
        raw: { method: 'roots/list' },
      })
      expectTypeOf(got.seat).toEqualTypeOf<ElicitOutcome<typeof seat> | undefined>()
      expectTypeOf(got.visit).toEqualTypeOf<ElicitResult | undefined>()
      expectTypeOf(got.words).toEqualTypeOf<CreateMessageResult | undefined>()
      expectTypeOf(got.places).toEqualTypeOf<Root[] | undefined>()
      expectTypeOf(got.raw).toEqualTypeOf<ListRootsResult | undefined>()
      return text([got.seat?.content?.row, got.visit?.action, got.words?.model, got.places?.length, got.raw?.roots])
    })
    const peer = await connect(server, revision, answers)
    const result = await peer.call('tools/call', { name: 't' })
    expect(result.content[0]?.text).toBe('[3,"accept","m",1,[{"uri":"file:///a"}]]')
    expect(rounds).toBe(eraOf(revision) === 'legacy' ? 1 : 2)
  })

  it('are sent if the client supports them', async () => {
    const server = oneTool(async (_args, ctx) => {
      const got = await ctx.ask({ seat: elicit({ message: 'Seat?', schema: seat }), places: roots() })
      return text([got.seat, got.places])
    })
    const peer = await connect(server, revision, answers, { roots: {} })
    expect((await peer.call('tools/call', { name: 't' })).content[0]?.text).toBe('[null,[{"uri":"file:///a"}]]')
  })

  it('are repeated if an answer is invalid [S-059, S-236]', async () => {
    const rows = [99, 12]
    const asked: unknown[] = []
    const answering: Answers = {
      'elicitation/create': (params) => {
        asked.push(params.message)
        return { action: 'accept', content: { row: rows.shift() } }
      },
    }
    const server = oneTool(async (_args, ctx) => {
      const { where } = await ctx.ask({ where: elicit({ message: 'Seat?', schema: seat }) })
      return text(where)
    })
    const peer = await connect(server, revision, answering)
    expect((await peer.call('tools/call', { name: 't' })).content[0]?.text).toBe(
      '{"action":"accept","content":{"row":12}}',
    )
    expect(asked).toHaveLength(2)
    expect(asked[1]).toContain('content.row')
  })

  it.each<[string, (ask: (key: string) => Promise<unknown>) => Promise<unknown>]>([
    ['at once', (ask) => Promise.all(Array.from({ length: 1_001 }, (_, n) => ask(`k${n}`)))],
    [
      'one after the other',
      async (ask) => {
        for (let n = 0; n < 1_001; n++)
          await ask(`k${n}`).catch((error) => (n < 1_000 ? undefined : Promise.reject(error)))
      },
    ],
  ])('are limited to 1,000 in one run, %s', async (_, askAll) => {
    const errors: unknown[] = []
    const server = oneTool(
      async (_args, ctx) => text(await askAll((key) => ctx.ask({ [key]: { method: 'roots/list' } }))),
      {
        onError: (error) => errors.push(error),
      },
    )
    const peer = await connect(server, revision, { 'roots/list': () => ({ roots: [] }) })
    await peer.call('tools/call', { name: 't' }).catch(() => {})
    const message = 'Questions of one call: expected at most 1000; ask for several values in one form'
    expect(errors).toContainEqual(expect.objectContaining({ name: 'QuestionError', message }))
  })
})

describe('an input request as a value', () => {
  it('has types for plain forms and raw requests', async () => {
    const plain = elicit({ message: 'm', schema: form })
    expectTypeOf<Awaited<ReturnType<NonNullable<typeof plain.check>>>>().toExtend<object>()
    const server = oneTool(async (_args, ctx) => {
      const key: string = 'k'
      const got = await ctx.ask({ [key]: { method: 'roots/list' as const } })
      expectTypeOf(got[key]).toEqualTypeOf<ListRootsResult | undefined>()
      const some: Record<string, { method: 'roots/list' } | { method: 'elicitation/create'; params: never }> = {}
      expectTypeOf(await ctx.ask(some)).toExtend<{ readonly [Key in string]?: InputResponse }>()
      return text(1)
    })
    const peer = await connect(server, '2026-07-28', answers)
    expect((await peer.call('tools/call', { name: 't' })).content[0]?.text).toBe('1')
  })

  it('cannot have fields that forms do not support', () => {
    // @ts-expect-error: the compiler refuses it, too
    expect(() => elicit({ message: 'm', schema: z.object({ a: z.object({}) }) })).toThrow(QuestionError)
  })
})
