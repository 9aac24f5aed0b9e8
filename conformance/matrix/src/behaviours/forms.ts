/** Form elicitation: every type of field and every action. */

import type { Elicitation } from '@mcpx/client'
import type { Awaitable, Context, ElicitResult, RequestedSchema } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { expect } from 'vitest'
import * as z from 'zod'
import type { Behaviours } from '../behaviour.ts'
import { jsonOf } from '../results.ts'

const info = { name: 'asking', version: '1' }
const createAsker = (run: (ctx: Context) => Awaitable<unknown>) =>
  createServer(info).tool('t', {}, async (_args, ctx) => JSON.stringify((await run(ctx)) ?? null))

const name = z.object({ name: z.string().min(2) })
const accept = (content: ElicitResult['content']): ElicitResult => ({ action: 'accept', content })

/** Every type of field of a form. */
const fields = {
  text: { type: 'string', title: 'Text', description: 'Some', minLength: 1, maxLength: 9 },
  mail: { type: 'string', format: 'email' },
  link: { type: 'string', format: 'uri' },
  day: { type: 'string', format: 'date' },
  deferred: { type: 'string', format: 'date-time' },
  number: { type: 'number', minimum: 0.5, maximum: 2.5 },
  whole: { type: 'integer', minimum: 1 },
  tick: { type: 'boolean', default: true },
  one: { type: 'string', enum: ['a', 'b'] },
  old: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
} satisfies RequestedSchema['properties']

/** The types of fields added in 2025-11-25. */
const newerFields = {
  titled: {
    type: 'string',
    oneOf: [
      { const: 'a', title: 'A' },
      { const: 'b', title: 'B' },
    ],
  },
  some: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1 },
  someTitled: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] }, maxItems: 1 },
  preset: { type: 'string', default: 'p' },
} satisfies RequestedSchema['properties']

const values = {
  text: 'é',
  mail: 'a@example.com',
  link: 'https://example.com',
  day: '2026-01-01',
  deferred: '2026-01-01T00:00:00Z',
  number: 1.5,
  whole: 3,
  tick: false,
  one: 'a',
  old: 'b',
}
const newerValues = { titled: 'b', some: ['a', 'b'], someTitled: ['a'] }

export const forms: Behaviours = {
  async 'a form returns values that match its schema'({ connect }) {
    const elicitations: Elicitation[] = []
    const server = createAsker((ctx) => ctx.elicit('who', { message: 'Who?', schema: name }))
    const onElicit = (elicitation: Elicitation) => {
      elicitations.push(elicitation)
      return accept({ name: 'Ada' })
    }
    const client = await connect(server, { onElicit })
    expect(jsonOf(await client.callTool('t'))).toEqual({ action: 'accept', content: { name: 'Ada' } })
    expect(elicitations).toMatchObject([{ mode: 'form', message: 'Who?', server: { name: 'asking' } }])
    expect(elicitations[0]?.mode === 'form' && elicitations[0].schema).toEqual({
      type: 'object',
      properties: { name: { type: 'string', minLength: 2 } },
      required: ['name'],
    })
  },

  async 'a form has fields of every type'({ connect }) {
    const schema: RequestedSchema = { type: 'object', properties: fields, required: ['text'] }
    const seen: unknown[] = []
    const server = createAsker((ctx) => ctx.elicit('all', { message: 'All', schema }))
    const onElicit = (elicitation: Elicitation) => {
      seen.push(elicitation.mode === 'form' && elicitation.schema)
      return accept(values)
    }
    const client = await connect(server, { onElicit })
    expect(jsonOf(await client.callTool('t'))).toEqual({ action: 'accept', content: values })
    expect(seen).toEqual([schema])
  },

  async 'a form has titled enums, multiple-choice enums, and defaults'({ connect }) {
    const schema: RequestedSchema = { type: 'object', properties: newerFields }
    const seen: unknown[] = []
    const server = createAsker((ctx) => ctx.elicit('all', { message: 'All', schema }))
    const onElicit = (elicitation: Elicitation) => {
      seen.push(elicitation.mode === 'form' && elicitation.schema)
      return accept(newerValues)
    }
    const client = await connect(server, { onElicit })
    expect(jsonOf(await client.callTool('t')).content).toEqual({ ...newerValues, preset: 'p' })
    expect(seen).toEqual([schema])
  },

  async 'defaults of a form replace omitted values'({ connect }) {
    const schema: RequestedSchema = { type: 'object', properties: { tick: { type: 'boolean', default: true } } }
    const server = createAsker((ctx) => ctx.elicit('tick', { message: 'Tick', schema }))
    const client = await connect(server, { onElicit: () => ({ action: 'accept' }) })
    expect(jsonOf(await client.callTool('t')).content).toEqual({ tick: true })
  },

  async 'a form can be declined and cancelled'({ connect }) {
    const server = createAsker((ctx) => ctx.elicit('who', { message: 'Who?', schema: name }))
    for (const action of ['decline', 'cancel'] as const) {
      const client = await connect(server, { onElicit: () => ({ action }) })
      expect(jsonOf(await client.callTool('t'))).toEqual({ action })
    }
  },

  async 'values that the schema rejects are requested again'({ connect }) {
    const schema = z.object({ n: z.string().refine((text) => text === 'good', 'expected "good"') })
    const server = createAsker((ctx) => ctx.elicit('n', { message: 'Which?', schema }))
    const messages: string[] = []
    const onElicit = ({ message }: Elicitation) => {
      messages.push(message)
      return accept({ n: messages.length < 3 ? 'bad' : 'good' })
    }
    const client = await connect(server, { onElicit })
    expect(jsonOf(await client.callTool('t')).content).toEqual({ n: 'good' })
    expect(messages).toHaveLength(3)
  },

  async 'a repeated form says why the values were rejected'({ connect }) {
    const schema = z.object({ n: z.string().refine((text) => text === 'good', 'expected "good"') })
    const server = createAsker((ctx) => ctx.elicit('n', { message: 'Which?', schema }))
    const messages: string[] = []
    const onElicit = ({ message }: Elicitation) => {
      messages.push(message)
      return accept({ n: messages.length === 1 ? 'bad' : 'good' })
    }
    expect(jsonOf(await (await connect(server, { onElicit })).callTool('t')).content).toEqual({ n: 'good' })
    expect(messages).toEqual(['Which?', expect.stringContaining('expected "good"')])
  },
}
